import type pg from 'pg'
import type { Kysely } from 'kysely'
import { pause } from '../pause.ts'
import { REQUEST_WAIT_MS } from '../request-wait.ts'
import { kyselyOver, newPool } from '../postgres/connect.ts'
import { isConnectionLost, isDiskFull, isTransient } from '../postgres/errors.ts'
import { SqlState, hasSqlState } from '../postgres/sql-state.ts'
import { type Checkpoint, readCheckpoint } from './checkpoint.ts'
import { readServerIncarnation } from './server-incarnation.ts'
import type { Quarantine } from './quarantine.ts'
import { Unavailable } from './rejected.ts'
import { withTimeout } from './with-timeout.ts'

export type Row = Record<string, unknown>

/** Queries over the read models. Every call may throw `Unavailable`. */
export type Reads<Tables> = {
  /** Runs a prepared statement; a name must always come with the same text. */
  rows<T extends Row>(name: string, text: string, values?: readonly unknown[]): Promise<T[]>
  /** Runs a query made with Kysely, which is slower to prepare: not for hot paths. */
  query<T>(build: (db: Kysely<Tables>) => Promise<T>): Promise<T>
  /** Whether none of these streams is in quarantine, so that their rows may be shown. */
  isNotQuarantined: Quarantine['isNotQuarantined']
  /** @throws InQuarantine when one of these streams is in quarantine, so that its rows may be wrong */
  assertNotQuarantined: Quarantine['assertNotQuarantined']
  /** Undefined when queries can be answered now, otherwise the reason why not. */
  check(): Promise<string | undefined>
  readonly pool: pg.Pool
  close(): Promise<void>
}

export type ReadsOptions = {
  readonly url: string
  readonly schema: string
  /** The name of its connections. */
  readonly name?: string
  readonly size?: number
  readonly quarantine: Pick<Quarantine, 'isNotQuarantined' | 'assertNotQuarantined'>
  /** The log's head, which reads wait for after a crash of the server. */
  readonly head: () => Promise<bigint>
  /** The last position that this node's caches have observed, which takes the head's place while the log is away. */
  readonly lastSeen: () => bigint
}

const STATEMENT_MS = 4_000
/** A check does not wait as long as a read does for read models that are being built: its answer is that they are. */
const CHECK_MS = 1_000
const POLL_MS = 15
const HEAD_TIMEOUT_MS = 1_000
const CATCHING_UP = 'the read models are catching up'
const HEAD_TIMEOUT_AFTER_FAILURE_MS = 100

/**
 * Opens a pool for queries. A crash of PostgreSQL may undo the last transactions of the read models until they are applied
 * again, so after each crash reads wait until the checkpoint has reached the log's head of that time. They wait at most
 * as long as requests do, and go on then as long as PostgreSQL answers, also when projections have stopped or the log is away.
 */
export const openReads = <Tables>({
  url,
  schema,
  name: connections = 'reads',
  size = 12,
  quarantine,
  head,
  lastSeen,
}: ReadsOptions): Reads<Tables> => {
  let catchingUp: Promise<void> | undefined
  let incarnation: string | undefined
  let isCaughtUp = false
  let incarnations = 0
  const noteIncarnation = async (client: pg.ClientBase) => {
    const present = await readServerIncarnation(client)
    if (present === incarnation) return
    incarnation = present
    isCaughtUp = false
    incarnations += 1
  }
  const pool = newPool(url, connections, size, STATEMENT_MS, schema, noteIncarnation)

  let headTimeout = HEAD_TIMEOUT_MS
  const headOrLastSeen = async () => {
    try {
      const position = await withTimeout(headTimeout, 'the log does not answer', head())
      headTimeout = HEAD_TIMEOUT_MS
      return position
    } catch {
      headTimeout = HEAD_TIMEOUT_AFTER_FAILURE_MS
      return lastSeen()
    }
  }

  const catchUp = async () => {
    const until = performance.now() + REQUEST_WAIT_MS
    isCaughtUp = true // set first: a connection to another incarnation, made meanwhile, unsets it
    try {
      const goal = await headOrLastSeen()
      for (;;) {
        const { position, ready, stopped } = await readCheckpoint(pool, schema).catch(ifMissing)
        const isLate = performance.now() > until
        if (ready && (position >= goal || stopped || isLate)) return
        if (isLate) throw new Unavailable(CATCHING_UP)
        await pause(POLL_MS)
      }
    } catch (error) {
      isCaughtUp = false
      throw error
    }
  }

  const untilCaughtUp = async () => {
    while (!isCaughtUp || catchingUp) {
      catchingUp ??= catchUp().finally(() => {
        catchingUp = undefined
      })
      await catchingUp
    }
  }

  /** Reads again when the server's incarnation has changed meanwhile: the result may be from before it caught up. */
  const readCaughtUp = async <T>(work: () => Promise<T>): Promise<T> => {
    for (;;) {
      if (!isCaughtUp || catchingUp) await untilCaughtUp()
      const before = incarnations
      const result = await work()
      if (incarnations === before) return result
    }
  }

  /** Tries again after a lost connection, as often as the pool has connections: each may have been lost unnoticed. */
  const guarded = async <T>(
    work: () => Promise<T>,
    tries = size + 2,
    until = performance.now() + REQUEST_WAIT_MS,
  ): Promise<T> => {
    try {
      return await readCaughtUp(work)
    } catch (error) {
      if (isConnectionLost(error) && tries > 1 && performance.now() < until) return guarded(work, tries - 1, until)
      if (error instanceof Unavailable) throw error
      if (isMissing(error)) isCaughtUp = false
      if (isTransient(error) || isDiskFull(error) || isMissing(error))
        throw new Unavailable('the database cannot be reached', false, error)
      throw error
    }
  }

  const rows = <T extends Row>(name: string, text: string, values: readonly unknown[] = []) =>
    guarded(async () => (await pool.query<T>({ name, text, values: [...values] })).rows)

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
    query,
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

/** Whether the schema does not exist: this version's read models have not been built yet. */
const isMissing = (error: unknown) => hasSqlState(error, SqlState.invalidSchemaName, SqlState.undefinedTable)
