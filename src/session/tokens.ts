import type { ReadTables } from '../../projections/tables.ts'
import { newRecentChanges } from '../engine/recent-changes.ts'
import type { Reads } from '../engine/reads.ts'
import type { Caller } from '../http/caller.ts'
import { newCallerCache } from './caller-cache.ts'
import { type CallerSnapshot, readCaller } from './queries.ts'
import { isToken, tokenHash } from './token.ts'

/** Finds the caller of a token, with a cache whose entries live for one second. */
export type Tokens = {
  /**
   * The caller of a token; undefined for one that is unknown, revoked or expired. `via` is `bearer`.
   * `beforeLookUp` is called before the read models are queried for a token that was not valid when they were last
   * queried, or that they were never queried for; what it throws is thrown.
   * @throws Unavailable when the read models cannot be queried
   */
  find(token: string, beforeLookUp?: () => void): Promise<Caller | undefined>
  /**
   * Drops the cached callers that an event changes: `callers` is the id of their session or user. Called for every event
   * before its write is answered.
   */
  observe(event: { readonly position: bigint; readonly callers: string | undefined }): void
  clear(): void
  /** The same for a log in another epoch: positions begin anew. */
  restart(): void
}

export type TokensOptions = {
  readonly reads: Pick<Reads<ReadTables>, 'rows'>
  /** The time, in milliseconds since 1970. */
  readonly now: () => number
  /** Whether this node follows the log. While it does not, the cache is not used, because it would miss changes. */
  readonly isCurrent: () => boolean
  /** A monotonic clock, in milliseconds. */
  readonly elapsed?: () => number
  readonly maxCached?: number
}

const MAX_CACHED_DEVICE_NAME = 1_024
const REMEMBERED_CHANGES = 2_000

const isValid = ({ expiresAt }: Caller, now: number) => expiresAt === undefined || expiresAt > now

export const newTokens = (options: TokensOptions): Tokens => {
  const { reads, now, isCurrent, elapsed = () => performance.now(), maxCached = 10_000 } = options
  const cache = newCallerCache(maxCached)
  const asked = new Map<string, Promise<CallerSnapshot>>()
  /** Hashes of tokens that were valid when they were last looked up; the oldest is dropped first. */
  const proven = new Set<string>()
  const changes = newRecentChanges<string>(REMEMBERED_CHANGES)

  const isStale = ({ caller, position }: CallerSnapshot) =>
    caller !== undefined &&
    changes.since(position, (id) => id === caller.userId || id === caller.sessionId) !== 'unchanged'

  const note = (hash: string, isValid: boolean) => {
    proven.delete(hash)
    if (isValid) proven.add(hash)
    if (proven.size > maxCached) proven.delete(proven.values().next().value!)
  }

  const ask = async (hash: string): Promise<CallerSnapshot> => {
    const since = elapsed()
    const found = await readCaller(reads, hash).finally(() => asked.delete(hash))
    const { caller } = found
    note(hash, caller !== undefined)
    const isSmall = (caller?.deviceName?.length ?? 0) <= MAX_CACHED_DEVICE_NAME
    if (caller && isSmall && !isStale(found)) cache.put(hash, caller, since)
    return found
  }

  const askOnce = async (hash: string): Promise<CallerSnapshot> => {
    const running = asked.get(hash)
    if (running) {
      // This query began before the request, so it may have missed a change since; one that starts now cannot.
      const found = await running
      if (!isStale(found)) return found
      const later = asked.get(hash)
      if (later) return later
    }
    const started = ask(hash)
    asked.set(hash, started)
    return started
  }

  const find = async (token: string, beforeLookUp = () => {}) => {
    if (!isToken(token)) return undefined
    const hash = tokenHash(token)
    const cached = isCurrent() ? cache.get(hash, elapsed()) : undefined
    if (!cached && !proven.has(hash)) beforeLookUp()
    const caller = cached ?? (await askOnce(hash)).caller
    return caller && isValid(caller, now()) ? caller : undefined
  }

  const observe: Tokens['observe'] = ({ position, callers }) => {
    if (callers === undefined) return
    changes.note(position, callers)
    cache.dropAll(callers)
  }

  const restart = () => {
    changes.restart()
    cache.clear()
  }

  return { find, observe, clear: cache.clear, restart }
}
