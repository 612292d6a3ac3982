import type pg from 'pg'
import type { Kysely } from 'kysely'
import { isCutOff, isDiskFull, isTransient, kyselyOver, newPool } from '../postgres/connect.ts'
import { type Checkpoint, readCheckpoint } from './checkpoint.ts'
import { readServerIncarnation } from './server-incarnation.ts'
import type { Quarantine } from './quarantine.ts'
import { Unavailable } from './rejected.ts'
import { withTimeout } from './with-timeout.ts'

export type Row = Record<string, unknown>

/** The read models, as queries see them. Every call may throw `Unavailable`. */
export type Reads<Tables> = {
  /** Runs a prepared statement; `name` stands for its text and must be its own. */
  rows<T extends Row>(name: string, text: string, values?: readonly unknown[]): Promise<T[]>
  /** Runs a query made with Kysely: for what is not a hot path. */
  query<T>(query: (db: Kysely<Tables>) => Promise<T>): Promise<T>
  /** Whether rows of these streams may be shown: none of them is in quarantine. */
  isNotQuarantined: Quarantine['isNotQuarantined']
  /** @throws InQuarantine when rows of one of these streams may be wrong */
  assertNotQuarantined: Quarantine['assertNotQuarantined']
  /** Whether the read models can be asked now, with what is missing when they cannot. */
  check(): Promise<string | undefined>
  readonly pool: pg.Pool
  close(): Promise<void>
}

export type ReadsOptions = {
  readonly url: string
  readonly schema: string
  readonly size?: number
  readonly quarantine: Pick<Quarantine, 'isNotQuarantined' | 'assertNotQuarantined'>
  /** The log's head, which the read models should have reached after a crash of the server. */
  readonly head: () => Promise<bigint>
  /** The last position that this node has heard of: what counts instead while the log is away. */
  readonly lastSeen: () => bigint
}

const STATEMENT_MS = 4_000 // a server that does not answer at all is given up after twice that
const RETRY_MS = 5_000
const SETTLE_MS = 5_000
const LOOK_AGAIN_MS = 15
const HEAD_MS = 1_000
const HEAD_AWAY_MS = 100 // once it has not answered

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Queries over the read models. A crash of Postgres may take their last transactions along until they are applied again:
 * so in each life of the server reads wait until the checkpoint has reached the log's head of that moment. They do not
 * wait longer than 5 s: whatever became of the projections and of the log, reads go on as long as Postgres answers.
 */
export const openReads = <Tables>({
  url,
  schema,
  size = 12,
  quarantine,
  head,
  lastSeen: heard,
}: ReadsOptions): Reads<Tables> => {
  let settling: Promise<void> | undefined
  let incarnation: string | undefined
  let isSettled = false
  let lives = 0
  const greet = async (client: pg.ClientBase) => {
    const present = await readServerIncarnation(client)
    if (present === incarnation) return
    incarnation = present
    isSettled = false
    lives += 1
  }
  const pool = newPool(url, 'reads', size, STATEMENT_MS, schema, greet)

  let patience = HEAD_MS
  const goalNow = async () => {
    try {
      const goal = await withTimeout(patience, 'the log does not answer', head())
      patience = HEAD_MS
      return goal
    } catch {
      patience = HEAD_AWAY_MS
      return heard()
    }
  }

  const settle = async () => {
    const until = performance.now() + SETTLE_MS
    isSettled = true
    try {
      const goal = await goalNow()
      for (;;) {
        const { position, ready, stopped } = await readCheckpoint(pool, schema).catch(ifMissing)
        const isLate = performance.now() > until
        if (ready && (position >= goal || stopped || isLate)) return
        if (isLate) throw new Unavailable('the read models are catching up')
        await pause(LOOK_AGAIN_MS)
      }
    } catch (error) {
      isSettled = false
      throw error
    }
  }

  const settled = async () => {
    while (!isSettled || settling) {
      settling ??= settle().finally(() => {
        settling = undefined
      })
      await settling
    }
  }

  /** What was read over a connection into a new life of the server has not waited for what it must wait for: once more. */
  const settledWork = async <T>(work: () => Promise<T>): Promise<T> => {
    for (;;) {
      if (!isSettled || settling) await settled()
      const before = lives
      const result = await work()
      if (lives === before) return result
    }
  }

  /** Where connections were ended, those who use them next are the first to notice: all of the pool may have to be tried. */
  const guarded = async <T>(
    work: () => Promise<T>,
    tries = size + 2,
    until = performance.now() + RETRY_MS,
  ): Promise<T> => {
    try {
      return await settledWork(work)
    } catch (error) {
      if (isCutOff(error) && tries > 1 && performance.now() < until) return guarded(work, tries - 1, until)
      if (error instanceof Unavailable) throw error
      if (isMissing(error)) isSettled = false
      if (isTransient(error) || isDiskFull(error) || isMissing(error))
        throw new Unavailable('the database cannot be reached', false, error)
      throw error
    }
  }

  const rows = <T extends Row>(name: string, text: string, values: readonly unknown[] = []) =>
    guarded(async () => (await pool.query<T>({ name, text, values: [...values] })).rows)

  const check = () =>
    guarded(() => pool.query('select 1')).then(
      () => undefined,
      (error: Error) => error.message,
    )

  const kysely = kyselyOver<Tables>(pool)
  const ask = <T>(query: (db: Kysely<Tables>) => Promise<T>) => guarded(() => query(kysely))
  const { isNotQuarantined, assertNotQuarantined } = quarantine
  return {
    rows,
    query: ask,
    isNotQuarantined,
    assertNotQuarantined,
    check,
    pool,
    close: () => pool.end(),
  }
}

const ifMissing = (error: unknown): Checkpoint => {
  if (isMissing(error)) return { position: 0n, ready: false, stopped: false, epoch: undefined, anchor: undefined }
  throw error
}

/** A schema that is not there yet: this version's read models have not been built. */
const isMissing = (error: unknown) => ['3F000', '42P01'].includes((error as { code?: string }).code ?? '')
