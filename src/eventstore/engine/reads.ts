import type { Kysely } from 'kysely'
import { Busy } from '../../base/permits.ts'
import { REQUEST_WAIT_MS } from '../../base/waits.ts'
import { ANSWER_MS, kyselyOver, newPool } from '../postgres/connect.ts'
import type { FairPool } from '../postgres/fair-pool.ts'
import { failureText, isConnectionLost, isTransient } from '../postgres/errors.ts'
import { type ReadRows, inSnapshot } from './in-snapshot.ts'
import { CATCHING_UP, type Goal, isSchemaMissing, newCaughtUp } from './caught-up.ts'
import type { Quarantine } from './quarantine.ts'
import { Unavailable, withTimeout } from './rejected.ts'
import type { Standby } from './standby.ts'

export type Row = Record<string, unknown>

/** Queries over the read models. Every call may throw `Unavailable`, or `Busy` if no connection came free in time. */
export type Reads<Tables> = {
  /** Runs a prepared statement. A name must always have the same text. */
  rows<T extends Row>(name: string, text: string, values?: readonly unknown[]): Promise<T[]>
  /** Runs `work` in one snapshot; again from its beginning after a lost connection. */
  snapshot<T>(work: (readRows: ReadRows) => Promise<T>): Promise<T>
  /** Runs a query built with Kysely, which is slower to prepare: not for hot paths. */
  query<T>(build: (db: Kysely<Tables>) => Promise<T>): Promise<T>
  /** Whether none of these streams is in quarantine, so that their rows may be shown. */
  isNotQuarantined: Quarantine['isNotQuarantined']
  /** @throws InQuarantine if one of these streams is in quarantine, so that its rows may be wrong */
  assertNotQuarantined: Quarantine['assertNotQuarantined']
  /** Why queries cannot be answered now; undefined if they can. */
  check(): Promise<string | undefined>
  readonly pool: FairPool
  close(): Promise<void>
}

/** The PostgreSQL that queries go to. */
export type ReadServer = Goal & {
  readonly url: string
  /** If it is a standby. */
  readonly standby?: Pick<Standby, 'verify' | 'problem'> | undefined
}

type ReadsOptions = ReadServer & {
  readonly schema: string
  /** The name of its connections. */
  readonly name?: string
  readonly size?: number
  readonly quarantine: Pick<Quarantine, 'isNotQuarantined' | 'assertNotQuarantined'>
}

const STATEMENT_MS = 4_000
/** A check waits less than a read for read models that are being built: it only reports that they are. */
const CHECK_MS = 1_000

/**
 * Opens a pool for queries. After a crash of PostgreSQL they run once the read models have caught up; after a lost connection
 * they run again.
 */
export const openReads = <Tables>(options: ReadsOptions): Reads<Tables> => {
  const { url, standby, schema, name = 'reads', size = 12, quarantine, head, lastSeen } = options
  const caughtUp = newCaughtUp({ schema, pool: () => pool, head, lastSeen, isStrict: standby !== undefined })
  const pool = newPool({
    url,
    name,
    max: size,
    statementTimeoutMs: STATEMENT_MS,
    schema,
    onConnect: async (client) => {
      await standby?.verify(client)
      await caughtUp.noteIncarnation(client)
    },
  })

  const assertReadable = () => {
    const problem = standby?.problem()
    if (problem) throw new Unavailable(problem)
  }

  /** Tries again after a lost connection, as often as the pool has connections: each of them may be lost. */
  const guarded = async <T>(
    work: () => Promise<T>,
    tries = size + 2,
    until = performance.now() + REQUEST_WAIT_MS,
  ): Promise<T> => {
    assertReadable()
    try {
      return await caughtUp.read(work)
    } catch (error) {
      if (isConnectionLost(error) && tries > 1 && performance.now() < until) return guarded(work, tries - 1, until)
      if (error instanceof Unavailable || error instanceof Busy) throw error
      if (isSchemaMissing(error)) caughtUp.forget()
      if (isSchemaMissing(error)) throw new Unavailable(CATCHING_UP, false, error)
      throw unavailableIfPassing(error, STATEMENT_MS)
    }
  }

  const rows = <T extends Row>(name: string, text: string, values: readonly unknown[] = []) =>
    guarded(async () => (await pool.query<T>({ name, text, values: [...values] })).rows)

  const snapshot: Reads<Tables>['snapshot'] = (work) => guarded(() => inSnapshot(pool, work))

  const answers = async () => {
    await withTimeout(
      CHECK_MS,
      CATCHING_UP,
      guarded(async () => {}),
    )
    await guarded(() => pool.query('select 1'))
  }

  const check = () =>
    answers().then(
      () => undefined,
      (error: Error) => error.message,
    )

  const kysely = kyselyOver<Tables>(pool)
  const query = <T>(build: (db: Kysely<Tables>) => Promise<T>) => guarded(() => build(kysely))
  const { isNotQuarantined, assertNotQuarantined } = quarantine
  return {
    rows,
    snapshot,
    query,
    isNotQuarantined,
    assertNotQuarantined,
    check,
    pool,
    close: () => pool.end(),
  }
}

/** The error `Unavailable` for one of PostgreSQL that may pass; any other one unchanged. */
const unavailableIfPassing = (error: unknown, statementMs: number): unknown =>
  isTransient(error) ? new Unavailable(failureText('the database', error, statementMs), false, error) : error

/**
 * Waits for a query on operational tables, which do not come from the log and are queried without `Reads`.
 * @throws Unavailable while the database cannot be reached, is too slow, or its disk is full; Busy if no connection came free in time
 */
export const operationalQuery = async <T>(query: Promise<T>): Promise<T> => {
  try {
    return await query
  } catch (error) {
    throw error instanceof Busy ? error : unavailableIfPassing(error, ANSWER_MS)
  }
}
