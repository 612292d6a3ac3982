import type { Caller } from '../http/caller.ts'

/** Callers by the hash of their token, for a second at most. Times are milliseconds that only move forward. */
export type CallerCache = {
  get(hash: string, now: number): Caller | undefined
  /** Keeps a caller as known since a time; the oldest makes room. */
  put(hash: string, caller: Caller, since: number): void
  /** Drops the callers of a session or of a user, by its id. */
  dropAll(id: string): void
  clear(): void
}

type Entry = { readonly caller: Caller; readonly since: number }

const LIFETIME_MS = 1_000

export const newCallerCache = (keep: number): CallerCache => {
  const entries = new Map<string, Entry>()
  const hashesOf = new Map<string, Set<string>>()

  const drop = (hash: string) => {
    const entry = entries.get(hash)
    if (!entry) return
    entries.delete(hash)
    for (const id of [entry.caller.userId, entry.caller.sessionId]) {
      const hashes = hashesOf.get(id)
      hashes?.delete(hash)
      if (hashes?.size === 0) hashesOf.delete(id)
    }
  }

  const put = (hash: string, caller: Caller, since: number) => {
    drop(hash)
    if (entries.size >= keep) drop(entries.keys().next().value!)
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
