import type { MinimalLogger } from '../../base/logger.ts'
import { ANSWER_MS, newApplyingClient, newClient, withConnection } from '../postgres/connect.ts'
import type { LeaderSession } from '../postgres/leader.ts'
import { TooManyQuarantined } from './batch-applier.ts'
import { recordStop } from './checkpoint.ts'
import { UnknownEvent } from './codec.ts'
import { schemaOf } from './group.ts'
import { type KeepOptions, type KeepingState, keepReadModels } from './keep-read-models.ts'
import { startLeaderLoop } from './leader-process.ts'
import type { OutageLog } from './outage.ts'
import { isOutage, isRetryable } from './retryable-errors.ts'
import type { SchemaCleanup } from './schema-cleanup.ts'
import { holdUseLock, locks } from './schema.ts'

const RECONNECT_MS = 150
const CLOSE_MS = 2_000

/** What the runner is doing. A `stopped` runner stays so until an operator has removed the cause and restarts it. */
export type RunnerState =
  | { readonly is: 'starting' | 'standby' | 'disconnected' }
  | KeepingState
  | { readonly is: 'stopped'; readonly reason: string }

type SharedOptions = 'url' | 'group' | 'log' | 'codec' | 'watermark' | 'quarantine' | 'observe' | 'hasRoom'

export type RunnerOptions = Pick<KeepOptions, SharedOptions> & {
  readonly logger: Pick<MinimalLogger, 'info' | 'error'>
  readonly outage: OutageLog
  readonly cleanup: SchemaCleanup
}

/** Why a runner has stopped; shown to the operator. */
const explain = (error: unknown): string =>
  error instanceof UnknownEvent || error instanceof TooManyQuarantined ? error.message : 'an event cannot be applied'

/** Records for all nodes that the checkpoint will not move: after a crash of PostgreSQL reads would wait for it. */
const publishStop = (url: string, schema: string) =>
  withConnection(newClient(url, 'projections stopped', ANSWER_MS), (client) => recordStop(client, schema)).catch(
    () => {},
  )

/**
 * Runs the projections of one group while this process leads, and stands by otherwise. The session that holds the lease
 * also runs the transactions, so that another process takes over if this one dies or freezes. A stream with an event
 * that cannot be applied goes into quarantine; too many of them stop the runner, with an error in the service's log.
 */
export const startRunner = (options: RunnerOptions) => {
  const { url, group, logger, outage, cleanup } = options
  const schema = schemaOf(group)
  const part = `projections of ${group.name}`
  let state: RunnerState = { is: 'starting' }

  let lastMessage = ''
  const logOnce = (message: string) => {
    if (message !== lastMessage) logger.info({ schema }, message)
    lastMessage = message
  }

  const keep: Omit<KeepOptions, 'signal'> = {
    ...options,
    schema,
    begun: () => {
      outage.recovered(part)
      logOnce('this process updates the read models')
    },
    publish: (next) => {
      state = next
    },
  }

  const work = async (session: LeaderSession, signal: AbortSignal) => {
    await holdUseLock(session.client, schema)
    const waits = () => {
      logOnce('another process updates the read models: this one stands by')
      state = { is: 'standby' }
      outage.recovered(part)
    }
    // A new leader also applies transactions again that a crash of PostgreSQL has undone, even if no new events come.
    if (await session.acquire(locks.runner(schema), signal, waits)) await keepReadModels({ ...keep, signal }, session)
  }

  const onEnd = async (error: Error | undefined) => {
    if (!error) return 0
    if (!isRetryable(error)) {
      state = { is: 'stopped', reason: explain(error) }
      logger.error({ err: error }, 'projections stopped')
      outage.recovered(part)
      await publishStop(url, schema)
      return 'end'
    }
    state = { is: 'disconnected' }
    cleanup.postpone()
    if (isOutage(error)) outage.failed(part, error)
    else logOnce(`projections start again: ${error.message}`)
    return RECONNECT_MS
  }

  const connect = () => newApplyingClient(url, schema)
  const loop = startLeaderLoop({ url, connect, work, onEnd, closeMs: CLOSE_MS })
  return { state: () => state, close: loop.close }
}
