import type pg from 'pg'
import type { ReadTables } from '../../tables/main.ts'
import type { Watermark } from '../../eventstore/engine/watermark.ts'
import type { Reads } from '../../eventstore/engine/reads.ts'
import type { Transactor } from '../../eventstore/engine/transact.ts'
import { isDue, summarise } from '../trace/decide-summary.ts'
import type { TraceNeed, TraceState } from '../trace/state.ts'
import type { TraceEvent } from '../trace/events.ts'
import { readConversation, readSummaryHeader } from './conversation.ts'
import type { Attempt } from './job-runner.ts'
import type { SummaryProvider } from './provider.ts'
import { type Payload, clearTimer } from './process-state.ts'

export type JobOptions = {
  readonly reads: Reads<ReadTables>
  /** The position of the read models. */
  readonly watermark: Watermark
  readonly traces: Transactor<TraceState, TraceEvent, TraceNeed>
  readonly assertWritable: () => void
  readonly pool: pg.Pool
  readonly provider: SummaryProvider
  readonly threshold: number
  readonly logger: { info(data: object, message: string): void; warn(data: object, message: string): void }
}

const CATCH_UP_TIMEOUT_MS = 10_000

/** Makes one summary: checks that it is due, reads the session, asks the provider, and appends the result if it is still due. */
const makeSummary = async (options: JobOptions, payload: Payload, signal: AbortSignal): Promise<void> => {
  const { reads, watermark, traces, pool, provider, threshold } = options
  const { traceId } = payload
  await watermark.waitFor(BigInt(payload.position), CATCH_UP_TIMEOUT_MS)
  const header = await readSummaryHeader(reads, traceId)
  if (!header || header.incarnation !== BigInt(payload.incarnation)) return
  const { messageCount, deletions, since } = header
  // The threshold is higher than when the timer was set. The timer is removed, because it would shorten the next debounce.
  if (!isDue(messageCount, header.summarised, threshold)) return void (await clearTimer(pool, payload))
  const summary = await provider(await readConversation(reads, traceId, messageCount), signal)
  signal.throwIfAborted()
  options.assertWritable()
  const decide = summarise({ ...summary, messageCount, deletions, since }, threshold)
  await traces.transact(traceId, { decide, answer: () => {} }, {})
}

/** The task of the job runner. A failed job runs again with backoff. After the last failure new messages of the trace start another. */
export const newSummaryJob =
  (options: JobOptions) =>
  async (payload: Payload, { isLast, signal }: Attempt): Promise<void> => {
    const { pool, logger } = options
    try {
      await makeSummary(options, payload, signal)
    } catch (error) {
      const details = { trace: payload.traceId, reason: (error as Error).message }
      if (signal.aborted || !isLast) logger.info(details, 'a summary has failed and will be tried again')
      else {
        logger.warn(details, 'a summary has failed for the last time; new messages of the trace will start it again')
        await clearTimer(pool, payload)
      }
      throw new Error(details.reason)
    }
  }
