import { BoundedMap } from '../base/bounded-map.ts'
import type { Caller } from '../http/caller.ts'

/** Callers by the hash of their token, each for at most one second. Times are milliseconds of a monotonic clock. */
export type CallerCache = {
  get(hash: string, now: number): Caller | undefined
  /** Stores a caller that was read at `since`. When the cache is full, the oldest entry is dropped. */
  put(hash: string, caller: Caller, since: number): void
  /** Drops all callers with this session id or user id. */
  dropAll(id: string): void
  clear(): void
}

type Entry = { readonly caller: Caller; readonly since: number }

const LIFETIME_MS = 1_000

export const newCallerCache = (maxEntries: number): CallerCache => {
  const hashesOf = new Map<string, Set<string>>()

  const unindex = (hash: string, { caller }: Entry) => {
    for (const id of [caller.userId, caller.sessionId]) {
      const hashes = hashesOf.get(id)
      hashes?.delete(hash)
      if (hashes?.size === 0) hashesOf.delete(id)
    }
  }

  const entries = new BoundedMap<string, Entry>(maxEntries, unindex)

  const drop = (hash: string) => {
    const entry = entries.get(hash)
    if (entries.delete(hash)) unindex(hash, entry!)
  }

  const put = (hash: string, caller: Caller, since: number) => {
    drop(hash)
    entries.set(hash, { caller, since })
    for (const id of [caller.userId, caller.sessionId]) hashesOf.set(id, (hashesOf.get(id) ?? new Set()).add(hash))
  }

  const get = (hash: string, now: number) => {
    const entry = entries.get(hash)
    return entry && now - entry.since < LIFETIME_MS ? entry.caller : undefined
  }

  const dropAll = (id: string) => {
    for (const hash of [...(hashesOf.get(id) ?? [])]) drop(hash)
  }

  const clear = () => {
    entries.clear()
    hashesOf.clear()
  }

  return { get, put, dropAll, clear }
}
