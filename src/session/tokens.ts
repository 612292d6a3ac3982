import type { ReadTables } from '../../projections/index.ts'
import type { Happened } from '../engine/projection.ts'
import type { Reads } from '../engine/reads.ts'
import type { Caller } from '../http/caller.ts'
import { newOverruled } from './overruled.ts'
import { type Found, findCaller } from './queries.ts'
import { isToken, tokenHash } from './token.ts'

/** Who tokens stand for, from a cache of at most a second (architecture: Hot paths). */
export type Tokens = {
  /**
   * The caller that a token stands for, as a bearer; undefined for one that is unknown, revoked or expired.
   * @throws Unavailable when the read models cannot be asked
   */
  find(token: string): Promise<Caller | undefined>
  /** Drops what events make stale. Called for every event before its write is answered. */
  observe(events: readonly Happened[]): void
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

type Entry = { readonly caller: Caller; readonly since: number }

const LIFETIME_MS = 1_000
const LONGEST_DEVICE_NAME = 1_024

const isValid = ({ expiresAt }: Caller, now: number) => expiresAt === undefined || expiresAt > now

export const newTokens = (options: TokensOptions): Tokens => {
  const { reads, now, isAlive, elapsed = () => performance.now(), keep = 10_000 } = options
  const entries = new Map<string, Entry>()
  /** The hashes of the cached tokens of a session or a user, by its id. */
  const hashesOf = new Map<string, Set<string>>()
  const asked = new Map<string, Promise<Found>>()
  const overruled = newOverruled()

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

  const store = (hash: string, caller: Caller, since: number) => {
    drop(hash)
    if (entries.size >= keep) drop(entries.keys().next().value!)
    entries.set(hash, { caller, since })
    for (const id of [caller.userId, caller.sessionId]) hashesOf.set(id, (hashesOf.get(id) ?? new Set()).add(hash))
  }

  const isOverruled = ({ caller, position }: Found) =>
    caller !== undefined && overruled.isOlder(position, [caller.userId, caller.sessionId])

  const ask = async (hash: string): Promise<Found> => {
    const since = elapsed()
    const found = await findCaller(reads, hash).finally(() => asked.delete(hash))
    const { caller } = found
    const isSmall = (caller?.deviceName?.length ?? 0) <= LONGEST_DEVICE_NAME
    if (caller && isSmall && !isOverruled(found)) store(hash, caller, since)
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

  const cached = (hash: string): Caller | undefined => {
    const entry = isAlive() ? entries.get(hash) : undefined
    return entry && elapsed() - entry.since < LIFETIME_MS ? entry.caller : undefined
  }

  const find = async (token: string) => {
    if (!isToken(token)) return undefined
    const hash = tokenHash(token)
    const caller = cached(hash) ?? (await askOnce(hash)).caller
    return caller && isValid(caller, now()) ? caller : undefined
  }

  const observe = (events: readonly Happened[]) => {
    for (const event of events) {
      const id = overruled.note(event)
      if (id !== undefined) for (const hash of [...(hashesOf.get(id) ?? [])]) drop(hash)
    }
  }

  const clear = () => {
    entries.clear()
    hashesOf.clear()
  }

  return { find, observe, clear }
}
