import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
export const collectGarbage = runInNewContext('gc') as () => void

/** How many of these objects are still referenced after a full garbage collection. */
export const stillHeld = (refs: Iterable<WeakRef<object>>): number => {
  collectGarbage()
  return [...refs].filter((ref) => ref.deref() !== undefined).length
}

/** How many bytes of buffers this process holds. A test file that imports this module has a process of its own. */
export const bufferBytes = (): number => process.memoryUsage().arrayBuffers
