import { randomBytes } from 'node:crypto'
import type { ReadTables } from '../../projections/tables.ts'
import { sha256 } from '../base/ids.ts'
import type { Reads } from '../engine/reads.ts'
import { newTopicCache } from '../engine/topic-cache.ts'
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
const LIFETIME_MS = 1_000

/** What a token was found to be, and when it was looked up, by `elapsed`. */
type Found = { readonly caller: Caller | undefined; readonly since: number }

/** Each caller counts as one. A token without a caller is looked up each time, and so is one with a long name. */
const sizeOf = ({ caller }: Found): number =>
  caller && (caller.deviceName?.length ?? 0) <= MAX_CACHED_DEVICE_NAME ? 1 : Infinity

const isValid = ({ expiresAt }: Caller, now: number) => expiresAt === undefined || expiresAt > now

export const newTokens = (options: TokensOptions): Tokens => {
  const { reads, now, isCurrent, elapsed = () => performance.now(), maxCached = 10_000 } = options
  const cache = newTopicCache({ sizeOf, maxSize: maxCached, isCurrent, remembered: REMEMBERED_CHANGES })
  /** Hashes of tokens that were valid when they were last looked up; the oldest is dropped first. */
  const proven = new Set<string>()

  const note = (hash: string, isValid: boolean) => {
    proven.delete(hash)
    if (isValid) proven.add(hash)
    if (proven.size > maxCached) proven.delete(proven.values().next().value!)
  }

  const lookUp = (hash: string) =>
    cache.load(hash, async () => {
      const since = elapsed()
      const { caller, position } = await readCaller(reads, hash)
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

  return { find, observe, clear: cache.clear, restart: cache.restart }
}
