import { randomBytes } from 'node:crypto'
import type { ReadTables } from '../../tables/main.ts'
import { sha256 } from '../../base/ids.ts'
import type { Reads } from '../../eventstore/engine/reads.ts'
import { newTopicCache } from '../../eventstore/engine/topic-cache.ts'
import type { Caller } from '../http/caller.ts'
import { readCaller } from './queries.ts'

const FORMAT = /^tb_[\w-]{43}$/

/** A new session token: 256 random bits. */
export const newToken = (): string => `tb_${randomBytes(32).toString('base64url')}`

/** Whether a text has the form of a token. Others are refused without a query. */
export const isToken = (text: string): boolean => FORMAT.test(text)

/** The hash of a token, which is stored in its place. */
export const tokenHash = (token: string): string => sha256(token)

/** Finds the caller of a token, with a cache whose entries live for one second. */
export type Tokens = {
  /**
   * The caller of a token, with `via` `bearer`; undefined if the token is unknown, revoked or expired.
   * `beforeLookUp` is called before the read models are queried for a token that is not known to be valid from an
   * earlier query. If it throws, no query is made and `find` throws the same.
   * @throws Unavailable if the read models cannot be queried
   */
  find(token: string, beforeLookUp?: () => void): Promise<Caller | undefined>
  /**
   * Drops the cached callers that an event changes: `callers` is the id of their session or user. Called for every event
   * before its write is answered.
   */
  observe(event: { readonly position: bigint; readonly callers: string | undefined }): void
  clear(): void
}

type TokensOptions = {
  readonly reads: Pick<Reads<ReadTables>, 'rows'>
  /** The time, in milliseconds since 1970. */
  readonly now: () => number
  /** Whether this node follows the log. While it does not, the cache is not used, because it would miss changes. */
  readonly isCurrent: () => boolean
  /**
   * Where another server is read than the one that is written to: resolves once it shows all that is in the log now. A token that is unknown
   * there may have been issued by another node. @throws Unavailable, LogUnavailable
   */
  readonly untilShown?: (() => Promise<void>) | undefined
  /** A monotonic clock, in milliseconds. */
  readonly elapsed?: () => number
  readonly maxCached?: number
}

/** In UTF-16 code units. */
const MAX_CACHED_DEVICE_NAME = 1_024
/** How many events are remembered, to know whether a caller has changed while it was read. */
const REMEMBERED_CHANGES = 2_000
/** How long a cached caller is used. */
const LIFETIME_MS = 1_000

/** The result of a lookup, and when it was made, by `elapsed`. */
type CachedCaller = { readonly caller: Caller | undefined; readonly since: number }

/** Each caller counts as one. Invalid tokens, and callers whose device has a long name, are not cached. */
const sizeOf = ({ caller }: CachedCaller): number =>
  caller && (caller.deviceName?.length ?? 0) <= MAX_CACHED_DEVICE_NAME ? 1 : Infinity

const isValid = ({ expiresAt }: Caller, now: number) => expiresAt === undefined || expiresAt > now

export const newTokens = (options: TokensOptions): Tokens => {
  const { reads, now, isCurrent, untilShown, elapsed = () => performance.now(), maxCached = 10_000 } = options
  const cache = newTopicCache({ sizeOf, maxSize: maxCached, isCurrent, remembered: REMEMBERED_CHANGES })
  /** Hashes of tokens that were valid when they were last looked up; the oldest is dropped first. */
  const proven = new Set<string>()

  const note = (hash: string, isValid: boolean) => {
    proven.delete(hash)
    if (isValid) proven.add(hash)
    if (proven.size > maxCached) proven.delete(proven.values().next().value!)
  }

  const readShown = async (hash: string) => {
    const found = await readCaller(reads, hash)
    if (found.caller || !untilShown) return found
    await untilShown()
    return readCaller(reads, hash)
  }

  const lookUp = (hash: string) =>
    cache.load(hash, async () => {
      const since = elapsed()
      const { caller, position } = await readShown(hash)
      note(hash, caller !== undefined)
      return { value: { caller, since }, topics: new Set(caller && [caller.userId, caller.sessionId]), position }
    })

  const find = async (token: string, beforeLookUp = () => {}) => {
    if (!isToken(token)) return undefined
    const hash = tokenHash(token)
    const cached = cache.get(hash)
    const isFresh = cached !== undefined && elapsed() - cached.since < LIFETIME_MS
    if (!isFresh && !proven.has(hash)) beforeLookUp()
    const { caller } = isFresh ? cached : await lookUp(hash)
    return caller && isValid(caller, now()) ? caller : undefined
  }

  const observe: Tokens['observe'] = ({ position, callers }) => {
    if (callers !== undefined) cache.observe({ position, topics: [callers] })
  }

  return { find, observe, clear: cache.clear }
}
