import type { Logger } from 'pino'
import { pause } from '../../base/waits.ts'
import type { Codec } from '../../eventstore/engine/codec.ts'
import { startLeaderProcess } from '../../eventstore/engine/leader-process.ts'
import type { OutageLog } from '../../eventstore/engine/outage.ts'
import type { EventLog } from '../../eventstore/log/log.ts'
import { isTransient } from '../../eventstore/postgres/errors.ts'
import type { LeaderSession } from '../../eventstore/postgres/leader.ts'
import type { JobRunner } from './job-runner.ts'
import { type JobOptions, newSummaryJob } from './job.ts'
import { newUnreadableLog, runProcessManager } from './process-manager.ts'
import { CheckpointMoved } from './process-state.ts'
import type { SummaryProvider } from './provider.ts'
import { newSessionParser, type SessionParser } from './session-parser.ts'
import type { SummarySettings } from './settings.ts'
import { holdLivenessLock, LEADER_LOCK, releaseJobsOfDeadWorkers } from './worker-liveness.ts'

/** Imported only if it is configured, because its SDK has more modules than all other code for summaries. */
const lazyOpenAiProvider = (settings: SummarySettings, thread: SessionParser): SummaryProvider => {
  const provider = import('./openai.ts').then(({ newOpenAiProvider }) => newOpenAiProvider(settings, thread))
  return async (conversation, signal) => (await provider)(conversation, signal)
}

/** The provider of the configuration; undefined if summaries are turned off. */
const newSummaryProvider = (settings: SummarySettings, thread: SessionParser): SummaryProvider | undefined => {
  switch (settings.SUMMARY_PROVIDER) {
    case 'extract':
      return thread.extract
    case 'openai':
      return lazyOpenAiProvider(settings, thread)
    case 'none':
      return undefined
  }
}

/**
 * One worker, the leader, follows the log and sets timers; all workers run the jobs. Leadership and liveness are locks of one
 * database session, which PostgreSQL ends if this process dies or freezes. Then another worker leads and takes over its jobs, and
 * this process starts again from the stored state.
 */
type SummariesOptions = Omit<JobOptions, 'provider' | 'threshold' | 'logger'> & {
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
/** The pause after an error that will probably happen again. */
const ERROR_RETRY_MS = 30_000

const PART_NAME = 'summaries'

/** Starts the process. Does nothing if summaries are turned off. */
export const startSummaries = (options: SummariesOptions): { close(): Promise<void> } => {
  const { url, jobConnections: connections, log, codec, now, config, logger, outage } = options
  const thread = newSessionParser((error) =>
    logger.warn({ reason: error.message }, 'the thread that reads sessions for summaries has failed'),
  )
  const provider = newSummaryProvider(config, thread)
  if (!provider) return { close: thread.close }
  const rule = { threshold: config.SUMMARY_THRESHOLD, debounceMs: config.SUMMARY_DEBOUNCE_MS }
  const run = newSummaryJob({ ...options, provider, threshold: rule.threshold })
  const onUnreadable = newUnreadableLog(logger)

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
  const runJobs = async (session: LeaderSession, jobs: JobRunner, led: AbortSignal) => {
    const end = new AbortController()
    const signal = AbortSignal.any([led, end.signal])
    void jobs.ended.then(() => end.abort())
    try {
      await holdLivenessLock(session.client, jobs.id)
      jobs.open()
      outage.recovered(PART_NAME)
      await Promise.all([lead(session, signal), sweep(signal)])
    } finally {
      end.abort()
    }
  }

  const work = async (session: LeaderSession, signal: AbortSignal) => {
    // A crash loses states, timers and checkpoint together, and they are derived from the log again.
    await session.client.query('set synchronous_commit = off')
    const { startJobRunner } = await import('./job-runner.ts') // many modules, which only a worker with a provider needs
    const jobs = await startJobRunner({ url, connections, concurrency: config.SUMMARY_CONCURRENCY, run, logger })
    await runJobs(session, jobs, signal).finally(() => jobs.close())
  }

  const onFailure = (error: Error) => {
    if (error instanceof CheckpointMoved || isTransient(error))
      return logger.info({ reason: error.message }, 'the process of summaries failed and starts again')
    logger.error({ err: error }, 'the process of summaries failed; it starts again in half a minute')
    return ERROR_RETRY_MS
  }

  const { close } = startLeaderProcess({ url, name: PART_NAME, work, onFailure, outage })
  return {
    close: async () => {
      await close()
      await thread.close()
    },
  }
}
