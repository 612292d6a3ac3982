import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Codec } from '../engine/codec.ts'
import { type EventLog, LogUnavailable } from '../log/log.ts'
import { hangUp, isTransient, newClient } from '../postgres/connect.ts'
import { type Jobs, startJobs } from './jobs.ts'
import { type JobOptions, newJob } from './job.ts'
import { manage } from './manager.ts'
import { freeJobsOfTheDead, sayAlive, tryLead } from './presence.ts'
import { providerOf } from './providers.ts'
import { CheckpointMoved } from './rows.ts'
import type { SummarySettings } from './settings.ts'
import { newUnreadable } from './unreadable.ts'

/**
 * Summaries (readings: Summary job): one worker follows the log and sets timers, all of them run the jobs. Everything
 * hangs on one connection: when it is lost, the whole starts again from what is stored.
 */
export type SummariesOptions = Omit<JobOptions, 'provider' | 'threshold' | 'logger'> & {
  readonly url: string
  readonly jobConnections: number
  readonly log: EventLog
  readonly codec: Codec
  readonly now: () => number
  readonly config: SummarySettings
  readonly logger: JobOptions['logger'] & Pick<Logger, 'debug' | 'error'>
}

const STANDBY_MS = 500
const SWEEP_MS = 3_000
const RECONNECT_MS = 500
/** After a fault that does not pass by itself. */
const BROKEN_MS = 30_000
const STATEMENT_MS = 30_000

const connect = async (url: string): Promise<pg.Client> => {
  const client = newClient(url, 'summaries', STATEMENT_MS)
  client.on('error', () => {})
  await client.connect()
  await client.query('set synchronous_commit = off') // rows, timers and checkpoint are lost together and come again
  return client
}

const mayPass = (error: unknown) =>
  error instanceof LogUnavailable || error instanceof CheckpointMoved || isTransient(error)

/** Starts the process; nothing at all when summaries are switched off. */
export const startSummaries = (options: SummariesOptions): { close(): Promise<void> } => {
  const { url, jobConnections: connections, log, codec, now, config, logger } = options
  const provider = providerOf(config)
  if (!provider) return { close: async () => {} }
  const rule = { threshold: config.SUMMARY_THRESHOLD, debounceMs: config.SUMMARY_DEBOUNCE_MS }
  const run = newJob({ ...options, provider, threshold: rule.threshold })
  const unreadable = newUnreadable(logger)
  const stop = new AbortController()

  const pause = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal }).catch(() => {})

  const lead = async (client: pg.Client, signal: AbortSignal) => {
    while (!signal.aborted && !(await tryLead(client))) await pause(STANDBY_MS, signal)
    if (signal.aborted) return
    await manage({ client, log, codec, rule, attempts: config.SUMMARY_ATTEMPTS, now, unreadable, signal })
  }

  const sweep = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      await freeJobsOfTheDead(options.pool)
      await pause(SWEEP_MS, signal)
    }
  }

  /** Until the connection, the job runner or the service ends. */
  const work = async (client: pg.Client, jobs: Jobs) => {
    const lost = new AbortController()
    const signal = AbortSignal.any([stop.signal, lost.signal])
    client.once('end', () => lost.abort())
    void jobs.ended.then(() => lost.abort())
    try {
      await sayAlive(client, jobs.id)
      jobs.open()
      await Promise.all([lead(client, signal), sweep(signal)])
    } finally {
      lost.abort()
    }
  }

  const once = async () => {
    const client = await connect(url)
    try {
      const jobs = await startJobs({ url, connections, concurrency: config.SUMMARY_CONCURRENCY, run, logger })
      await work(client, jobs).finally(() => jobs.close())
    } finally {
      await hangUp(client)
    }
  }

  const keepOn = async () => {
    while (!stop.signal.aborted) {
      await once().catch((error: unknown) => {
        if (stop.signal.aborted) return
        if (mayPass(error)) return logger.info({ err: error }, 'summaries wait for their database')
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
    },
  }
}
