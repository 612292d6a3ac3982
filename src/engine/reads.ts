import type pg from 'pg'
import type { Kysely } from 'kysely'
import { isDiskFull, isTransient, kyselyOver, newPool } from '../postgres/connect.ts'
import { type Checkpoint, readCheckpoint } from './read-models.ts'
import { Unavailable } from './rejected.ts'
import { within } from './within.ts'

export type Row = Record<string, unknown>

/** The read models, as queries see them. Every call may throw `Unavailable`. */
export type Reads<Tables> = {
  /** Runs a prepared statement; `name` stands for its text and must be its own. */
  rows<T extends Row>(name: string, text: string, values?: readonly unknown[]): Promise<T[]>
  /** Runs a query made with Kysely: for what is not a hot path. */
  ask<T>(query: (db: Kysely<Tables>) => Promise<T>): Promise<T>
  /** Whether the read models can be asked now, with what is missing when they cannot. */
  check(): Promise<string | undefined>
  readonly pool: pg.Pool
  close(): Promise<void>
}

export type ReadsOptions = {
  readonly url: string
  readonly schema: string
  readonly size?: number
  /** The log's head, which the read models must have reached after a reconnect. */
  readonly head: () => Promise<bigint>
  /** The last position that this node has heard of: what counts instead while the log is away. */
  readonly heard: () => bigint
}

const STATEMENT_MS = 4_000 // a server that does not answer at all is given up after twice that
const SETTLE_MS = 5_000
const LOOK_AGAIN_MS = 15
const HEAD_MS = 1_000
const HEAD_AWAY_MS = 100 // once it has not answered

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Queries over the read models. Their last transactions may be lost in a crash of Postgres and come back by a replay:
 * so after every new connection reads wait until the checkpoint has reached the log's head of that moment
 * (architecture: Projections). Reads go on while the log is away: it cannot grow then beyond what was heard of it.
 */
export const openReads = <Tables>({ url, schema, size = 12, head, heard }: ReadsOptions): Reads<Tables> => {
  const pool = newPool(url, 'reads', size, STATEMENT_MS, schema)
  let settling: Promise<void> | undefined
  let unsettled = true
  let connections = 0
  const unsettle = () => {
    unsettled = true
  }
  pool.on('connect', () => {
    connections += 1
    unsettle()
  })
  pool.on('error', unsettle)

  let patience = HEAD_MS
  const goalNow = async () => {
    try {
      const goal = await within(patience, 'the log does not answer', head())
      patience = HEAD_MS
      return goal
    } catch {
      patience = HEAD_AWAY_MS
      return heard()
    }
  }

  const settle = async () => {
    const until = performance.now() + SETTLE_MS
    unsettled = false
    try {
      const goal = await goalNow()
      for (;;) {
        const { position, ready, stopped } = await readCheckpoint(pool, schema).catch(ifMissing)
        if (ready && (position >= goal || stopped)) return
        if (performance.now() > until) throw new Unavailable('the read models are catching up')
        await pause(LOOK_AGAIN_MS)
      }
    } catch (error) {
      unsettled = true
      throw error
    }
  }

  const settled = async () => {
    while (unsettled || settling) {
      settling ??= settle().finally(() => {
        settling = undefined
      })
      await settling
    }
  }

  /** A query on a connection that was made for it has not waited for what that connection must wait for: once more. */
  const settledWork = async <T>(work: () => Promise<T>): Promise<T> => {
    for (;;) {
      if (unsettled || settling) await settled()
      const before = connections
      const result = await work()
      if (connections === before) return result
    }
  }

  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await settledWork(work)
    } catch (error) {
      if (error instanceof Unavailable) throw error
      if (isTransient(error) || isDiskFull(error) || isMissing(error)) {
        unsettle()
        throw new Unavailable('the database cannot be reached', false, error)
      }
      throw error
    }
  }

  const rows = <T extends Row>(name: string, text: string, values: readonly unknown[] = []) =>
    guarded(async () => (await pool.query<T>({ name, text, values: [...values] })).rows)

  const check = () => guarded(async () => undefined).catch((error: Error) => error.message)

  const kysely = kyselyOver<Tables>(pool)
  const ask = <T>(query: (db: Kysely<Tables>) => Promise<T>) => guarded(() => query(kysely))
  return { rows, ask, check, pool, close: () => pool.end() }
}

const ifMissing = (error: unknown): Checkpoint => {
  if (isMissing(error)) return { position: 0n, ready: false, stopped: false }
  throw error
}

/** A schema that is not there yet: this version's read models have not been built. */
const isMissing = (error: unknown) => ['3F000', '42P01'].includes((error as { code?: string }).code ?? '')
