import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** How many of these are still held by something; looks after a full collection. */
export const alive = (refs: Iterable<WeakRef<object>>): number => {
  collect()
  return [...refs].filter((ref) => ref.deref() !== undefined).length
}
