import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { closeConnection, destroyConnection, newClient, withConnection } from './connect.ts'

/** The server ends a session that is idle for this long, for five heartbeats, with its transaction and its locks. */
const LEASE_MS = 5_000
const HEARTBEAT_MS = 1_000
const ANSWER_CHECK_MS = 3_000
const STATEMENT_MS = 2_000
const RETRY_MS = 300
const CONNECT_MS = 10_000

/**
 * A database session that holds a lease: an advisory lock, which another process gets at once when this one dies, and a
 * heartbeat, without which the server ends the session of a frozen or unreachable process. A former leader that wakes up
 * may still send statements, so the leader's writes need a fence: a checkpoint that moves by compare-and-set.
 */
export type LeaderSession = {
  readonly client: pg.Client
  /** Aborts when the session has ended: from then on another process may lead. */
  readonly lost: AbortSignal
  /** Waits for the lock of this name, and calls `waits` while another session holds it; false when `signal` or `lost` aborts. */
  acquire(lock: string, signal: AbortSignal, waits?: () => void): Promise<boolean>
  close(): Promise<void>
}

/** The leader's session has ended: another process may lead by now. */
export class SessionLost extends Error {
  override readonly name = 'SessionLost'
}

/** A server process; its start time distinguishes it from a later one with the same pid. */
type Backend = { readonly pid: number; readonly started: string }

const prepareSession = `
  select set_config('idle_session_timeout', '${LEASE_MS}', false),
    set_config('idle_in_transaction_session_timeout', '${LEASE_MS}', false),
    pid, backend_start::text as started from pg_stat_activity where pid = pg_backend_pid()`

/** False when the server waits for the client: then an answer was lost, because the client waits for the server. */
const selectWorking = `
  select state = 'active' and wait_event_type is distinct from 'Client'
    or clock_timestamp() - state_change < interval '1 second' as working
  from pg_stat_activity where pid = $1 and backend_start = $2::timestamptz`

const isWorking = (url: string, { pid, started }: Backend): Promise<boolean> =>
  withConnection(newClient(url, 'lost answers', STATEMENT_MS), async (client) => {
    const { rows } = await client.query<{ working: boolean }>(selectWorking, [pid, started])
    return rows[0]?.working ?? false
  }).catch(() => false)

/**
 * Sends a heartbeat over the session each second. A heartbeat waits until the statements before it are done, however long they
 * take; if the server is not working on any, the network has lost an answer, and the connection is destroyed.
 */
const keepAlive = (url: string, client: pg.Client, backend: Backend): (() => void) => {
  let isBeating = false
  const beat = async () => {
    if (isBeating) return
    isBeating = true
    // The answer may come while the server is asked, where this process did nothing for some seconds.
    const checkAnswer = async () => {
      const works = await isWorking(url, backend)
      if (!works && isBeating) destroyConnection(client)
    }
    const check = setInterval(() => void checkAnswer(), ANSWER_CHECK_MS)
    await client.query('select 1').catch(() => {})
    clearInterval(check)
    isBeating = false
  }
  const timer = setInterval(() => void beat(), HEARTBEAT_MS)
  return () => clearInterval(timer)
}

type Client = Pick<pg.ClientBase, 'query'>

/** The session that holds the lock `$1`. */
const selectHolder = `
  select pid from pg_locks
  where locktype = 'advisory' and objsubid = 1 and granted
    and database = (select oid from pg_database where datname = current_database())
    and ((classid::int8 << 32) | objid::int8) = hashtext($1)::int8`

/** Ends the session that holds this lock, if there is one. The next leader starts from what is stored. */
export const endLeaderSession = (client: Client, lock: string): Promise<unknown> =>
  client.query(`select pg_terminate_backend(pid) from (${selectHolder}) h`, [lock])

/** Whether a session holds this lock. */
export const hasLeader = async (client: Client, lock: string): Promise<boolean> =>
  (await client.query(selectHolder, [lock])).rows.length > 0

/** A holder whose client has sent only a part of a statement: the server does not count such a session as idle. */
const selectStalled = `
  select pid, backend_start::text || state_change::text as since from pg_stat_activity
  where pid = (${selectHolder} limit 1) and state = 'active' and wait_event_type = 'Client'`

type StalledSession = { readonly pid: number; readonly since: string }

/** Ends a leader's session that stays stalled because its process froze while it was sending a statement. */
const newStalledLeaderCheck = (client: Client, lock: string): (() => Promise<void>) => {
  let stalled: (StalledSession & { readonly from: number }) | undefined
  return async () => {
    const found = (await client.query<StalledSession>(selectStalled, [lock])).rows[0]
    if (found?.since !== stalled?.since) stalled = found && { ...found, from: performance.now() }
    if (!stalled || performance.now() - stalled.from < LEASE_MS) return
    await client.query('select pg_terminate_backend($1)', [stalled.pid])
    stalled = undefined
  }
}

/** Connects `client`, which has to pipeline, and sends heartbeats until the session is closed. @throws what connecting throws */
export const openLeaderSession = async (url: string, client: pg.Client): Promise<LeaderSession> => {
  const end = new AbortController()
  client.once('end', () => end.abort(new SessionLost('the session has ended')))
  let stopHeartbeat = () => {}
  const close = async () => {
    stopHeartbeat()
    await closeConnection(client)
    end.abort(new SessionLost('the session is closed'))
  }
  const timeout = setTimeout(destroyConnection, CONNECT_MS, client) // there is no heartbeat yet
  try {
    await client.connect()
    const { rows } = await client.query<Backend>(prepareSession)
    stopHeartbeat = keepAlive(url, client, rows[0]!)
  } catch (error) {
    await close()
    throw error
  } finally {
    clearTimeout(timeout)
  }

  const acquire = async (lock: string, signal: AbortSignal, waits = () => {}): Promise<boolean> => {
    const ended = AbortSignal.any([signal, end.signal])
    const endStalledLeader = newStalledLeaderCheck(client, lock)
    while (!ended.aborted) {
      const { rows } = await client.query('select pg_try_advisory_lock(hashtext($1)) as mine', [lock])
      if (rows[0].mine) return true
      waits()
      await endStalledLeader()
      await sleep(RETRY_MS, undefined, { signal: ended }).catch(() => {})
    }
    return false
  }

  return { client, lost: end.signal, acquire, close }
}
