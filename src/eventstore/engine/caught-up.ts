import type pg from 'pg'
import { SERVICE, actAs } from '../../base/current-client.ts'
import { REQUEST_WAIT_MS, pause } from '../../base/waits.ts'
import { SqlState, hasSqlState } from '../postgres/sql-state.ts'
import { type Checkpoint, readCheckpoint } from './checkpoint.ts'
import { Unavailable, withTimeout } from './rejected.ts'

// A crash of one process of the server is recovered from without another start, but statistics are forgotten then.
const selectIncarnation = `
  select concat_ws(' ', (select system_identifier from pg_control_system()), pg_postmaster_start_time(),
    (select stats_reset from pg_stat_bgwriter)) as incarnation`

/**
 * A text that changes when the PostgreSQL server recovers from a crash or fails over, which may undo the last transactions
 * of the read models, and when it is started again. A standby has its own.
 */
export const readServerIncarnation = async (client: Pick<pg.ClientBase, 'query'>): Promise<string> =>
  (await client.query<{ incarnation: string }>(selectIncarnation)).rows[0]!.incarnation

/** Delays reads while the read models may be older than they were, after a crash of the server. */
type CaughtUp = {
  /** To be called with each new connection: it may be the first after a crash, to another incarnation of the server. */
  noteIncarnation(client: pg.ClientBase): Promise<void>
  /**
   * Runs `work` once the read models have caught up, and again if the server's incarnation has changed meanwhile, because the
   * result may be outdated.
   * @throws Unavailable while the read models have never caught up
   */
  read<T>(work: () => Promise<T>): Promise<T>
  /** Notes that there are no read models: the next read waits until they have caught up. */
  forget(): void
}

/** What reads wait for. */
export type Goal = {
  /** The log's head, which reads wait for after a crash of the server. */
  readonly head: () => Promise<bigint>
  /** The last position that this node's caches have observed; used instead of the head while the log cannot be reached. */
  readonly lastSeen: () => bigint
}

type CaughtUpOptions = Goal & {
  readonly schema: string
  /** Where the checkpoint is read. */
  readonly pool: () => pg.Pool
  /** Whether reads fail as long as the read models have not caught up: those of a standby may be much older than what was shown before. */
  readonly isStrict: boolean
}

export const CATCHING_UP = 'the read models are catching up'

const POLL_MS = 15
const HEAD_TIMEOUT_MS = 1_000
const HEAD_TIMEOUT_AFTER_FAILURE_MS = 100

/** Whether the schema does not exist: this version's read models have not been built yet. */
export const isSchemaMissing = (error: unknown): boolean =>
  hasSqlState(error, SqlState.invalidSchemaName, SqlState.undefinedTable)

const ifMissing = (error: unknown): Checkpoint => {
  if (isSchemaMissing(error)) return { position: 0n, ready: false, stopped: false, epoch: undefined, anchor: undefined }
  throw error
}

/** The log's head, or `lastSeen` if the log does not answer; after that the next call waits less. */
const newGoal = ({ head, lastSeen }: Goal) => {
  let timeoutMs = HEAD_TIMEOUT_MS
  return async () => {
    try {
      const position = await withTimeout(timeoutMs, 'the log does not answer', head())
      timeoutMs = HEAD_TIMEOUT_MS
      return position
    } catch {
      timeoutMs = HEAD_TIMEOUT_AFTER_FAILURE_MS
      return lastSeen()
    }
  }
}

/**
 * A crash of PostgreSQL may undo the last transactions of the read models until they are applied again. So after each crash
 * reads wait, as long as a request waits, until the checkpoint has reached the log's head at that time. Then they go on as long as
 * PostgreSQL answers, even if projections have stopped or the log cannot be reached. Those of a standby go on only once it has caught up.
 */
export const newCaughtUp = (options: CaughtUpOptions): CaughtUp => {
  const { schema, pool, isStrict } = options
  const goalNow = newGoal(options)
  let catchingUp: Promise<void> | undefined
  let incarnation: string | undefined
  let isCaughtUp = false
  let incarnations = 0

  const noteIncarnation = async (client: pg.ClientBase) => {
    const current = await readServerIncarnation(client)
    if (current === incarnation) return
    incarnation = current
    isCaughtUp = false
    incarnations += 1
  }

  const catchUp = async () => {
    const until = performance.now() + REQUEST_WAIT_MS
    isCaughtUp = true // set before waiting, so that a new connection to another incarnation can reset it
    try {
      const goal = await goalNow()
      for (;;) {
        const { position, ready, stopped } = await readCheckpoint(pool(), schema).catch(ifMissing)
        const isLate = performance.now() > until
        if (ready && (position >= goal || stopped || (isLate && !isStrict))) return
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
      catchingUp ??= actAs(SERVICE, catchUp).finally(() => {
        catchingUp = undefined
      })
      await catchingUp
    }
  }

  const read = async <T>(work: () => Promise<T>): Promise<T> => {
    for (;;) {
      if (!isCaughtUp || catchingUp) await untilCaughtUp()
      const before = incarnations
      const result = await work()
      if (incarnations === before) return result
    }
  }

  const forget = () => {
    isCaughtUp = false
  }

  return { noteIncarnation, read, forget }
}
