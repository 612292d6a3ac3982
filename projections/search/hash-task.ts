import { lowerThreadPriority } from '../../src/base/threads.ts'
import type { MessageRow } from '../../src/server/trace/tokens/stored-rows.ts'
import { type Hasher, hashesOfMessages, newHasher } from './hash-messages.ts'

lowerThreadPriority()

export type HashTask = { readonly key: Uint8Array; readonly rows: readonly MessageRow[] }

let last: { readonly key: Uint8Array; readonly hasher: Hasher } | undefined

/** The task that `hashing.ts` runs on its thread, by this name. */
export const hashMessages = ({ key, rows }: HashTask): Int32Array[] => {
  if (!last || Buffer.compare(last.key, key) !== 0) last = { key, hasher: newHasher(key) }
  return hashesOfMessages(last.hasher, rows)
}
