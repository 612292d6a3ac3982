import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
export const collectGarbage = runInNewContext('gc') as () => void

/** How many of these are still held by something; looks after a full collection. */
export const stillHeld = (refs: Iterable<WeakRef<object>>): number => {
  collectGarbage()
  return [...refs].filter((ref) => ref.deref() !== undefined).length
}

/** How many bytes this process holds in buffers. Its file shares the process with no other, as it imports this one. */
export const bufferBytes = (): number => process.memoryUsage().arrayBuffers
