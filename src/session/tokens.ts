import type { ReadTables } from '../../projections/index.ts'
import type { DecodedEvent } from '../engine/projection.ts'
import type { Reads } from '../engine/reads.ts'
import type { Caller } from '../http/caller.ts'
import { newCallerCache } from './caller-cache.ts'
import { newOverruled } from './overruled.ts'
import { type Found, findCaller } from './queries.ts'
import { isToken, tokenHash } from './token.ts'

/** Who tokens stand for, from a cache of at most a second. */
export type Tokens = {
  /**
   * The caller that a token stands for, as a bearer; undefined for one that is unknown, revoked or expired.
   * @throws Unavailable when the read models cannot be asked
   */
  find(token: string): Promise<Caller | undefined>
  /** Drops what events make stale. Called for every event before its write is answered. */
  observe(events: readonly DecodedEvent[]): void
  clear(): void
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

const isValid = ({ expiresAt }: Caller, now: number) => expiresAt === undefined || expiresAt > now

export const newTokens = (options: TokensOptions): Tokens => {
  const { reads, now, isAlive, elapsed = () => performance.now(), keep = 10_000 } = options
  const cache = newCallerCache(keep)
  const asked = new Map<string, Promise<Found>>()
  const overruled = newOverruled()

  const isOverruled = ({ caller, position }: Found) =>
    caller !== undefined && overruled.isOlder(position, [caller.userId, caller.sessionId])

  const ask = async (hash: string): Promise<Found> => {
    const since = elapsed()
    const found = await findCaller(reads, hash).finally(() => asked.delete(hash))
    const { caller } = found
    const isSmall = (caller?.deviceName?.length ?? 0) <= LONGEST_DEVICE_NAME
    if (caller && isSmall && !isOverruled(found)) cache.put(hash, caller, since)
    return found
  }

  const askOnce = async (hash: string): Promise<Found> => {
    const running = asked.get(hash)
    if (running) {
      // It began before this request, so it may have missed what was answered in between; a later one cannot have.
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

  const observe = (events: readonly DecodedEvent[]) => {
    for (const event of events) {
      const id = overruled.note(event)
      if (id !== undefined) cache.dropAll(id)
    }
  }

  return { find, observe, clear: cache.clear }
}
