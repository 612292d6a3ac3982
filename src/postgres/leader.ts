import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { destroyConnection, closeConnection, newClient } from './connect.ts'

/** A session that says nothing for this long is ended by the server, with its transaction and its locks. */
const SILENCE_MS = 5_000
const HEARTBEAT_MS = 1_000
const PATIENCE_MS = 3_000
const LOOK_MS = 2_000
const TURN_MS = 300
const INTRODUCTION_MS = 10_000

/**
 * The session of a process that leads: it holds an advisory lock, so that another process takes over at once when it
 * dies, and keeps saying that it lives, so that the server ends it when the process is frozen or out of reach. What a
 * former leader still does when it wakes up has to be fenced by what it writes: a checkpoint moves by compare-and-set.
 */
export type Leader = {
  readonly client: pg.Client
  /** Aborted once the session has ended: from then on another process may lead. */
  readonly lost: AbortSignal
  /** Waits until the lock of this name can be had; false when `signal` or the session ended first. */
  acquire(lock: string, signal: AbortSignal, waits?: () => void): Promise<boolean>
  close(): Promise<void>
}

/** The session of a leader has ended: another process may lead by now. */
export class SessionLost extends Error {
  override readonly name = 'SessionLost'
}

/** A server process, also told from a later one that has got the same id. */
type Backend = { readonly pid: number; readonly started: string }

const prepareSession = `
  select set_config('idle_session_timeout', '${SILENCE_MS}', false),
    set_config('idle_in_transaction_session_timeout', '${SILENCE_MS}', false),
    pid, backend_start::text as started from pg_stat_activity where pid = pg_backend_pid()`

/** False when the server has been waiting for the client, as the client waits for the server: an answer was lost. */
const working = `
  select state = 'active' and wait_event_type is distinct from 'Client'
    or clock_timestamp() - state_change < interval '1 second' as working
  from pg_stat_activity where pid = $1 and backend_start = $2::timestamptz`

const isWorking = async (url: string, { pid, started }: Backend): Promise<boolean> => {
  const client = newClient(url, 'lost answers', LOOK_MS)
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ working: boolean }>(working, [pid, started])
    return rows[0]?.working ?? false
  } catch {
    return false
  } finally {
    await closeConnection(client)
  }
}

/**
 * Touches the session each second. A touch waits behind whatever the session is doing, which may take its time; where
 * the server turns out not to be at work the network has forgotten the connection, and it is cut.
 */
const keepAlive = (url: string, client: pg.Client, backend: Backend): (() => void) => {
  let touching = false
  const touch = async () => {
    if (touching) return
    touching = true
    const look = setInterval(
      () => void isWorking(url, backend).then((works) => works || destroyConnection(client)),
      PATIENCE_MS,
    )
    await client.query('select 1').catch(() => {})
    clearInterval(look)
    touching = false
  }
  const timer = setInterval(() => void touch(), HEARTBEAT_MS)
  return () => clearInterval(timer)
}

type Client = Pick<pg.ClientBase, 'query'>

/** Whose session holds the lock `$1`. */
const holder = `
  select pid from pg_locks
  where locktype = 'advisory' and objsubid = 1 and granted
    and database = (select oid from pg_database where datname = current_database())
    and ((classid::int8 << 32) | objid::int8) = hashtext($1)::int8`

/** Ends the session that leads under this name, if there is one; what leads next begins from what is stored. */
export const endLeader = (client: Client, lock: string): Promise<unknown> =>
  client.query(`select pg_terminate_backend(pid) from (${holder}) h`, [lock])

/** Whether somebody leads under this name. */
export const hasLeader = async (client: Client, lock: string): Promise<boolean> =>
  (await client.query(holder, [lock])).rows.length > 0

/** Only while the server waits for its client in the middle of a statement, which it does not take for silence. */
const stalled = `
  select pid, backend_start::text || state_change::text as since from pg_stat_activity
  where pid = (${holder} limit 1) and state = 'active' and wait_event_type = 'Client'`

type StalledSession = { readonly pid: number; readonly since: string }

/** Watches who leads, and ends a session whose process was frozen before it had sent the whole of a statement. */
const newStalledLeaderCheck = (client: Client, lock: string): (() => Promise<void>) => {
  let seen: (StalledSession & { readonly from: number }) | undefined
  return async () => {
    const now = (await client.query<StalledSession>(stalled, [lock])).rows[0]
    if (now?.since !== seen?.since) seen = now && { ...now, from: performance.now() }
    if (!seen || performance.now() - seen.from < SILENCE_MS) return
    await client.query('select pg_terminate_backend($1)', [seen.pid])
    seen = undefined
  }
}

/** Connects `client` and keeps its session alive until it is closed. @throws what connecting throws */
export const openLeader = async (url: string, client: pg.Client): Promise<Leader> => {
  const end = new AbortController()
  client.on('error', () => {})
  client.once('end', () => end.abort(new SessionLost('the session has ended')))
  let rest = () => {}
  const close = async () => {
    rest()
    await closeConnection(client)
    end.abort(new SessionLost('the session is closed'))
  }
  const patience = setTimeout(destroyConnection, INTRODUCTION_MS, client) // nobody touches the session yet
  try {
    await client.connect()
    const { rows } = await client.query<Backend>(prepareSession)
    rest = keepAlive(url, client, rows[0]!)
  } catch (error) {
    await close()
    throw error
  } finally {
    clearTimeout(patience)
  }

  const acquire = async (lock: string, signal: AbortSignal, waits = () => {}): Promise<boolean> => {
    const ended = AbortSignal.any([signal, end.signal])
    const lookAtLeader = newStalledLeaderCheck(client, lock)
    while (!ended.aborted) {
      const { rows } = await client.query('select pg_try_advisory_lock(hashtext($1)) as mine', [lock])
      if (rows[0].mine) return true
      waits()
      await lookAtLeader()
      await sleep(TURN_MS, undefined, { signal: ended }).catch(() => {})
    }
    return false
  }

  return { client, lost: end.signal, acquire, close }
}
