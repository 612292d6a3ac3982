import type pg from 'pg'
import type { MinimalLogger } from '../../base/logger.ts'
import { REQUEST_WAIT_MS, pause } from '../../base/waits.ts'
import { ANSWER_MS, newClient, withConnection } from '../postgres/connect.ts'
import type { EventLog } from '../log/log.ts'
import { failureText } from '../postgres/errors.ts'
import { readCheckpoint } from './checkpoint.ts'
import { Unavailable } from './rejected.ts'
import { isAheadOfLog } from './same-log.ts'

/** A streaming standby that this node reads instead of the primary, which it writes to. */
export type Standby = {
  /**
   * To be called with each new connection.
   * @throws Unavailable if it does not lead to a standby of the primary's system
   */
  verify(client: Pick<pg.ClientBase, 'query'>): Promise<void>
  /** Why nothing may be read from it now; undefined if reads may go on. */
  problem(): string | undefined
  close(): Promise<void>
}

type StandbyOptions = {
  readonly url: string
  readonly primaryUrl: string
  readonly log: Pick<EventLog, 'head' | 'holds'>
  /** Of the main read models. */
  readonly schema: string
  readonly logger: Pick<MinimalLogger, 'info' | 'error'>
}

/** What a server says of itself: all copies of a database system have the same identifier. Positions are those of the WAL, in bytes. */
type Server = {
  readonly isStandby: boolean
  readonly system: string
  /** Raised by each promotion. A standby learns of it from its primary, at a checkpoint. */
  readonly timeline: number
  /** What is on the disk of a primary, or what a standby has applied. */
  readonly position: bigint
}

const selectServer = `
  select pg_is_in_recovery() as "isStandby", (select system_identifier from pg_control_system())::text as system,
    (select timeline_id from pg_control_checkpoint()) as timeline,
    (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_flush_lsn() end - '0/0')::int8 as position`

const readServer = async (client: Pick<pg.ClientBase, 'query'>): Promise<Server> =>
  (await client.query<Server>(selectServer)).rows[0]!

const LOOK_MS = 250

/** How old the rows may be that are read: rights that were taken away are read for no longer. */
const MOST_BEHIND_MS = REQUEST_WAIT_MS

const NAME = 'the standby of DATABASE_READ_URL'

/** What was restored from the same backup, or was the primary before a failover, has the same system identifier, and so have its standbys. */
const FOREIGN = `${NAME} shows events that the log does not hold: it follows another server than DATABASE_URL`

const problemOf = ({ isStandby, system, timeline }: Server, primary: Server): string | undefined => {
  if (system !== primary.system) return `${NAME} belongs to another system than DATABASE_URL`
  if (!isStandby) return `${NAME} is no standby: it was promoted, or is the primary itself`
  return timeline > primary.timeline
    ? `${NAME} was promoted since it followed the server of DATABASE_URL: make it again from a base backup of that`
    : undefined
}

/**
 * Watches the standby. There is no other server to read from while it is away, was promoted, or is too far behind: requests get 503 then,
 * and a balancer sends them to another node.
 */
export const openStandby = async ({ url, primaryUrl, log, schema, logger }: StandbyOptions): Promise<Standby> => {
  let primary = await withConnection(newClient(primaryUrl, 'start', ANSWER_MS), readServer)
  const closing = new AbortController()
  const { signal } = closing
  let found: string | undefined
  let isForeign = false
  /** Where the primary was at a time, until the standby has applied it. */
  let goal: { readonly position: bigint; readonly at: number } | undefined
  /** A time up to which the standby has applied everything. */
  let appliedUpTo = performance.now()
  let isPrimaryAway = false

  const problem = () => {
    if (found) return found
    if (isForeign) return FOREIGN
    if (performance.now() - appliedUpTo <= MOST_BEHIND_MS) return undefined
    if (isPrimaryAway) return `how far ${NAME} is behind is not known, because the primary cannot be reached`
    return `${NAME} is more than ${MOST_BEHIND_MS / 1_000} s behind the primary`
  }

  const lookAtPrimary = async (client: pg.Client) => {
    const at = performance.now()
    primary = await readServer(client)
    goal ??= { position: primary.position, at }
    isPrimaryAway = false
  }

  const lookAtStandby = async (client: pg.Client) => {
    const server = await readServer(client)
    found = problemOf(server, primary)
    if (found || goal === undefined || server.position < goal.position) return
    appliedUpTo = goal.at
    goal = undefined
  }

  const lookAtEvents = async (client: pg.Client) => {
    isForeign = await isAheadOfLog(log, await readCheckpoint(client, schema))
  }

  const withClient = <T>(server: string, work: (client: pg.Client) => Promise<T>) =>
    withConnection(newClient(server, 'standby watch', ANSWER_MS), work)

  const keepLooking = (server: string, look: (client: pg.Client) => Promise<void>) =>
    withClient(server, async (client) => {
      for (; !signal.aborted; await pause(LOOK_MS, signal)) await look(client)
    })

  const watchPrimary = async () => {
    for (; !signal.aborted; await pause(LOOK_MS, signal)) {
      await keepLooking(primaryUrl, lookAtPrimary).catch(() => {
        isPrimaryAway = true
      })
      goal = undefined // another primary may never have got there
    }
  }

  /** Apart from `watchStandby`, because the log may take long to answer. While it does not, the last answer holds, and reads go on. */
  const watchEvents = async () => {
    for (; !signal.aborted; await pause(LOOK_MS, signal)) await keepLooking(url, lookAtEvents).catch(() => {})
  }

  const watchStandby = async () => {
    for (; !signal.aborted; await pause(LOOK_MS, signal))
      await keepLooking(url, lookAtStandby).catch((error: unknown) => {
        found = failureText(NAME, error, ANSWER_MS)
      })
  }

  const report = async () => {
    let reported: string | undefined
    for (; !signal.aborted; await pause(LOOK_MS, signal)) {
      const reason = problem()
      if (reason && reason !== reported) logger.error({ reason }, 'nothing is read from the standby')
      if (!reason && reported) logger.info({}, 'the standby is read again')
      reported = reason
    }
  }

  const verify: Standby['verify'] = async (client) => {
    const other = problemOf(await readServer(client), primary)
    if (other) throw new Unavailable(other)
  }

  await withClient(url, lookAtEvents).catch(() => {}) // nothing of another server is read, not even at first
  const watching = Promise.all([watchPrimary(), watchStandby(), watchEvents(), report()])
  const close = async () => {
    closing.abort()
    await watching
  }
  return { verify, problem, close }
}
