import type { Logger } from 'pino'
import type { Codec } from '../engine/codec.ts'
import { isOutage } from '../engine/retryable-errors.ts'
import type { OutageLog } from '../engine/outage.ts'
import { type EventLog, LogUnavailable } from '../log/log.ts'
import { pause } from '../pause.ts'
import { newLeaderClient } from '../postgres/connect.ts'
import { isTransient } from '../postgres/errors.ts'
import { type LeaderSession, openLeaderSession } from '../postgres/leader.ts'
import { type JobRunner, startJobRunner } from './job-runner.ts'
import { type JobOptions, newSummaryJob } from './job.ts'
import { runProcessManager } from './process-manager.ts'
import { LEADER_LOCK, releaseJobsOfDeadWorkers, holdLivenessLock } from './worker-liveness.ts'
import { newSummaryProvider } from './providers.ts'
import { CheckpointMoved } from './process-state.ts'
import type { SummarySettings } from './settings.ts'
import { newSummaryThread } from './thread.ts'
import { warnOfUnreadable } from './unreadable-events.ts'

/**
 * One worker, the leader, follows the log and sets timers; all workers run the jobs. Leadership and liveness are locks of one
 * database session, which PostgreSQL ends when this process dies or freezes: then another worker leads and gets its jobs, and
 * this process starts again from the stored state.
 */
export type SummariesOptions = Omit<JobOptions, 'provider' | 'threshold' | 'logger'> & {
  readonly url: string
  readonly jobConnections: number
  readonly log: EventLog
  readonly codec: Codec
  readonly now: () => number
  readonly config: SummarySettings
  readonly outage: OutageLog
  readonly logger: JobOptions['logger'] & Pick<Logger, 'debug' | 'error'>
}

const SWEEP_MS = 3_000
const RECONNECT_MS = 500
/** The pause after an error that will probably happen again. */
const ERROR_RETRY_MS = 30_000
const STATEMENT_MS = 30_000

const PART_NAME = 'summaries'

/** Starts the process. Does nothing when summaries are turned off. */
export const startSummaries = (options: SummariesOptions): { close(): Promise<void> } => {
  const { url, jobConnections: connections, log, codec, now, config, logger, outage } = options
  const thread = newSummaryThread((error) =>
    logger.warn({ reason: error.message }, 'sessions cannot be read for summaries'),
  )
  const provider = newSummaryProvider(config, thread)
  if (!provider) return { close: thread.close }
  const rule = { threshold: config.SUMMARY_THRESHOLD, debounceMs: config.SUMMARY_DEBOUNCE_MS }
  const run = newSummaryJob({ ...options, provider, threshold: rule.threshold })
  const onUnreadable = warnOfUnreadable(logger)
  const stop = new AbortController()

  const lead = async ({ client, acquire }: LeaderSession, signal: AbortSignal) => {
    if (!(await acquire(LEADER_LOCK, signal))) return
    await runProcessManager({
      client,
      log,
      codec,
      rule,
      attempts: config.SUMMARY_ATTEMPTS,
      now,
      onUnreadable,
      signal,
    })
  }

  const sweep = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      await releaseJobsOfDeadWorkers(options.pool)
      await pause(SWEEP_MS, signal)
    }
  }

  /** Works until the session, the job runner or the service ends. */
  const work = async (leader: LeaderSession, jobs: JobRunner) => {
    const end = new AbortController()
    const signal = AbortSignal.any([stop.signal, leader.lost, end.signal])
    void jobs.ended.then(() => end.abort())
    try {
      await holdLivenessLock(leader.client, jobs.id)
      jobs.open()
      outage.recovered(PART_NAME)
      await Promise.all([lead(leader, signal), sweep(signal)])
    } finally {
      end.abort()
    }
  }

  const runOnce = async () => {
    const leader = await openLeaderSession(url, newLeaderClient(url, 'summaries', STATEMENT_MS))
    try {
      await leader.client.query('set synchronous_commit = off') // states, timers and checkpoint are lost together, and are derived from the log again
      const jobs = await startJobRunner({ url, connections, concurrency: config.SUMMARY_CONCURRENCY, run, logger })
      await work(leader, jobs).finally(() => jobs.close())
    } finally {
      await leader.close()
    }
  }

  const runUntilStopped = async () => {
    while (!stop.signal.aborted) {
      await runOnce().catch((error: unknown) => {
        if (stop.signal.aborted) return
        if (error instanceof LogUnavailable) return // logged by the watch on the log
        if (isOutage(error)) return outage.failed(PART_NAME, error)
        if (error instanceof CheckpointMoved || isTransient(error))
          return logger.info({ reason: (error as Error).message }, 'summaries begin again')
        logger.error({ err: error }, 'summaries cannot go on')
        return pause(ERROR_RETRY_MS, stop.signal)
      })
      await pause(RECONNECT_MS, stop.signal)
    }
  }

  const running = runUntilStopped()
  return {
    close: async () => {
      stop.abort()
      await running
      await thread.close()
    },
  }
}
