import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
export const collectGarbage = runInNewContext('gc') as () => void

/** How many of these are still held by something; looks after a full collection. */
export const stillHeld = (refs: Iterable<WeakRef<object>>): number => {
  collectGarbage()
  return [...refs].filter((ref) => ref.deref() !== undefined).length
}
