import { constants, setPriority } from 'node:os'
import { extname } from 'node:path'
import { isMainThread } from 'node:worker_threads'

/**
 * The address of the module `name`, without its extension, as seen from the module `from` (its `import.meta.url`): for threads, whose
 * modules no import statement names. Sources are `.ts`, and in the package, which is built, `.js`.
 */
export const moduleUrl = (name: string, from: string): URL => new URL(`${name}${extname(from)}`, from)

/**
 * Gives a worker thread a lower priority than the event loop, on which all requests wait. Only on Linux, where the priority is
 * that of the thread; elsewhere it would be that of the whole process.
 */
export const lowerThreadPriority = (): void => {
  if (!isMainThread && process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
}
