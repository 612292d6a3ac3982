import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Codec } from '../engine/codec.ts'
import { isOutage } from '../engine/faults.ts'
import type { Outage } from '../engine/outage.ts'
import { type EventLog, LogUnavailable } from '../log/log.ts'
import { isTransient, newClient } from '../postgres/connect.ts'
import { type Leader, openLeader } from '../postgres/leader.ts'
import { type Jobs, startJobs } from './job-runner.ts'
import { type JobOptions, newJob } from './job.ts'
import { manage } from './process-manager.ts'
import { LEAD, releaseJobsOfDeadWorkers, sayAlive } from './worker-liveness.ts'
import { providerOf } from './providers.ts'
import { CheckpointMoved } from './rows.ts'
import type { SummarySettings } from './settings.ts'
import { newThread } from './thread.ts'
import { newUnreadable } from './unreadable.ts'

/**
 * Summaries: one worker follows the log and sets timers, all of them run the jobs. Everything hangs on one session,
 * which ends with this process or while it is frozen: others then lead and get its jobs, and here the whole starts
 * again from what is stored.
 */
export type SummariesOptions = Omit<JobOptions, 'provider' | 'threshold' | 'logger'> & {
  readonly url: string
  readonly jobConnections: number
  readonly log: EventLog
  readonly codec: Codec
  readonly now: () => number
  readonly config: SummarySettings
  readonly outage: Outage
  readonly logger: JobOptions['logger'] & Pick<Logger, 'debug' | 'error'>
}

const SWEEP_MS = 3_000
const RECONNECT_MS = 500
/** After a fault that does not pass by itself. */
const BROKEN_MS = 30_000
const STATEMENT_MS = 30_000

const PART = 'summaries'

/** Starts the process; nothing at all when summaries are switched off. */
export const startSummaries = (options: SummariesOptions): { close(): Promise<void> } => {
  const { url, jobConnections: connections, log, codec, now, config, logger, outage } = options
  const thread = newThread((error) => logger.warn({ reason: error.message }, 'sessions cannot be read for summaries'))
  const provider = providerOf(config, thread)
  if (!provider) return { close: thread.close }
  const rule = { threshold: config.SUMMARY_THRESHOLD, debounceMs: config.SUMMARY_DEBOUNCE_MS }
  const run = newJob({ ...options, provider, threshold: rule.threshold })
  const unreadable = newUnreadable(logger)
  const stop = new AbortController()

  const pause = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal }).catch(() => {})

  const lead = async ({ client, acquire }: Leader, signal: AbortSignal) => {
    if (!(await acquire(LEAD, signal))) return
    await manage({ client, log, codec, rule, attempts: config.SUMMARY_ATTEMPTS, now, unreadable, signal })
  }

  const sweep = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      await releaseJobsOfDeadWorkers(options.pool)
      await pause(SWEEP_MS, signal)
    }
  }

  /** Until the session, the job runner or the service ends. */
  const work = async (leader: Leader, jobs: Jobs) => {
    const end = new AbortController()
    const signal = AbortSignal.any([stop.signal, leader.lost, end.signal])
    void jobs.ended.then(() => end.abort())
    try {
      await sayAlive(leader.client, jobs.id)
      jobs.open()
      outage.over(PART)
      await Promise.all([lead(leader, signal), sweep(signal)])
    } finally {
      end.abort()
    }
  }

  const once = async () => {
    const leader = await openLeader(url, newClient(url, 'summaries', STATEMENT_MS))
    try {
      await leader.client.query('set synchronous_commit = off') // rows, timers and checkpoint are lost together and come again
      const jobs = await startJobs({ url, connections, concurrency: config.SUMMARY_CONCURRENCY, run, logger })
      await work(leader, jobs).finally(() => jobs.close())
    } finally {
      await leader.close()
    }
  }

  const keepOn = async () => {
    while (!stop.signal.aborted) {
      await once().catch((error: unknown) => {
        if (stop.signal.aborted) return
        if (error instanceof LogUnavailable) return // the watch on the log tells of it
        if (isOutage(error)) return outage.noticed(PART, error)
        if (error instanceof CheckpointMoved || isTransient(error))
          return logger.info({ reason: (error as Error).message }, 'summaries begin again')
        logger.error({ err: error }, 'summaries cannot go on')
        return pause(BROKEN_MS, stop.signal)
      })
      await pause(RECONNECT_MS, stop.signal)
    }
  }

  const running = keepOn()
  return {
    close: async () => {
      stop.abort()
      await running
      await thread.close()
    },
  }
}
