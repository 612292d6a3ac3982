import type { ReadTables } from '../../projections/index.ts'
import type { Happened } from '../engine/projection.ts'
import type { Reads } from '../engine/reads.ts'
import type { Caller } from '../http/caller.ts'
import { newCallerCache } from './caller-cache.ts'
import { newOverruled } from './overruled.ts'
import { type CallerSnapshot, findCaller } from './queries.ts'
import { isToken, tokenHash } from './token.ts'

/** Finds the caller of a token, with a cache whose entries live for one second. */
export type Tokens = {
  /**
   * The caller of a token; undefined for one that is unknown, revoked or expired. `via` is `bearer`.
   * @throws Unavailable when the read models cannot be queried
   */
  find(token: string): Promise<Caller | undefined>
  /** Drops the cached callers that these events change. Called for every event before its write is answered. */
  observe(events: readonly Happened[]): void
  clear(): void
}

export type TokensOptions = {
  readonly reads: Pick<Reads<ReadTables>, 'rows'>
  /** The time, in milliseconds since 1970. */
  readonly now: () => number
  /** Whether this node follows the log. While it does not, the cache is not used, because it would miss changes. */
  readonly isAlive: () => boolean
  /** A monotonic clock, in milliseconds. */
  readonly elapsed?: () => number
  readonly maxCached?: number
}

const MAX_CACHED_DEVICE_NAME = 1_024

const isValid = ({ expiresAt }: Caller, now: number) => expiresAt === undefined || expiresAt > now

export const newTokens = (options: TokensOptions): Tokens => {
  const { reads, now, isAlive, elapsed = () => performance.now(), maxCached = 10_000 } = options
  const cache = newCallerCache(maxCached)
  const asked = new Map<string, Promise<CallerSnapshot>>()
  const overruled = newOverruled()

  const isOverruled = ({ caller, position }: CallerSnapshot) =>
    caller !== undefined && overruled.isOlder(position, [caller.userId, caller.sessionId])

  const ask = async (hash: string): Promise<CallerSnapshot> => {
    const since = elapsed()
    const found = await findCaller(reads, hash).finally(() => asked.delete(hash))
    const { caller } = found
    const isSmall = (caller?.deviceName?.length ?? 0) <= MAX_CACHED_DEVICE_NAME
    if (caller && isSmall && !isOverruled(found)) cache.put(hash, caller, since)
    return found
  }

  const askOnce = async (hash: string): Promise<CallerSnapshot> => {
    const running = asked.get(hash)
    if (running) {
      // This query began before the request, so it may have missed a change since; one that starts now cannot.
      const found = await running
      if (!isOverruled(found)) return found
      const later = asked.get(hash)
      if (later) return later
    }
    const started = ask(hash)
    asked.set(hash, started)
    return started
  }

  const find = async (token: string) => {
    if (!isToken(token)) return undefined
    const hash = tokenHash(token)
    const cached = isAlive() ? cache.get(hash, elapsed()) : undefined
    const caller = cached ?? (await askOnce(hash)).caller
    return caller && isValid(caller, now()) ? caller : undefined
  }

  const observe = (events: readonly Happened[]) => {
    for (const event of events) {
      const id = overruled.note(event)
      if (id !== undefined) cache.dropAll(id)
    }
  }

  return { find, observe, clear: cache.clear }
}
