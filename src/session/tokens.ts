import type { ReadTables } from '../../projections/index.ts'
import { newRecentChanges } from '../engine/recent-changes.ts'
import type { Reads } from '../engine/reads.ts'
import type { Caller } from '../http/caller.ts'
import { newCallerCache } from './caller-cache.ts'
import { type Found, findCaller } from './queries.ts'
import { isToken, tokenHash } from './token.ts'

/** Who tokens stand for, from a cache of at most a second. */
export type Tokens = {
  /**
   * The caller that a token stands for, as a bearer; undefined for one that is unknown, revoked or expired.
   * `beforeLookUp` is called before the read models are asked for a token that they did not know when they were last
   * asked, or never were asked for; what it throws is thrown.
   * @throws Unavailable when the read models cannot be asked
   */
  find(token: string, beforeLookUp?: () => void): Promise<Caller | undefined>
  /** Drops what an event makes stale: `callers` is the session, or the user, whose callers it changes. */
  observe(event: { readonly position: bigint; readonly callers: string | undefined }): void
  clear(): void
  /** The same for a log in another epoch: positions begin anew. */
  restart(): void
}

export type TokensOptions = {
  readonly reads: Pick<Reads<ReadTables>, 'rows'>
  /** The clock, in milliseconds. */
  readonly now: () => number
  /** False while this node hears nothing of the log: then nothing is served from memory. */
  readonly isAlive: () => boolean
  /** Milliseconds that only move forward. */
  readonly elapsed?: () => number
  readonly keep?: number
}

const LONGEST_DEVICE_NAME = 1_024
const REMEMBERED_CHANGES = 2_000

const isValid = ({ expiresAt }: Caller, now: number) => expiresAt === undefined || expiresAt > now

export const newTokens = (options: TokensOptions): Tokens => {
  const { reads, now, isAlive, elapsed = () => performance.now(), keep = 10_000 } = options
  const cache = newCallerCache(keep)
  const asked = new Map<string, Promise<Found>>()
  /** Hashes of tokens that were valid when they were last looked up; the oldest makes room. */
  const proven = new Set<string>()
  const changes = newRecentChanges<string>(REMEMBERED_CHANGES)

  const isStale = ({ caller, position }: Found) =>
    caller !== undefined &&
    changes.since(position, (id) => id === caller.userId || id === caller.sessionId) !== 'unchanged'

  const note = (hash: string, isValid: boolean) => {
    proven.delete(hash)
    if (isValid) proven.add(hash)
    if (proven.size > keep) proven.delete(proven.values().next().value!)
  }

  const ask = async (hash: string): Promise<Found> => {
    const since = elapsed()
    const found = await findCaller(reads, hash).finally(() => asked.delete(hash))
    const { caller } = found
    note(hash, caller !== undefined)
    const isSmall = (caller?.deviceName?.length ?? 0) <= LONGEST_DEVICE_NAME
    if (caller && isSmall && !isStale(found)) cache.put(hash, caller, since)
    return found
  }

  const askOnce = async (hash: string): Promise<Found> => {
    const running = asked.get(hash)
    if (running) {
      // It began before this request, so it may have missed what was answered in between; a later one cannot have.
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
    const cached = isAlive() ? cache.get(hash, elapsed()) : undefined
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
