import type pg from 'pg'
import type { ReadTables } from '../../projections/index.ts'
import type { Horizon } from '../engine/horizon.ts'
import type { Reads } from '../engine/reads.ts'
import type { Transactor } from '../engine/transact.ts'
import { isDue, summarise } from '../trace/decide-summary.ts'
import type { TraceNeed, TraceState } from '../trace/decide.ts'
import type { TraceEvent } from '../trace/events.ts'
import { readConversation, summaryHeader } from './conversation.ts'
import type { Attempt } from './job-runner.ts'
import type { Provider } from './provider.ts'
import { type Payload, giveUp } from './rows.ts'

export type JobOptions = {
  readonly reads: Reads<ReadTables>
  readonly models: Horizon
  readonly traces: Transactor<TraceState, TraceEvent, TraceNeed>
  readonly assertWritable: () => void
  readonly pool: pg.Pool
  readonly provider: Provider
  readonly threshold: number
  readonly logger: { info(data: object, message: string): void; warn(data: object, message: string): void }
}

const CAUGHT_UP_MS = 10_000

/** Makes one summary: checks that it is due, reads, asks the provider, and appends the result if it still is. */
const makeSummary = async (options: JobOptions, payload: Payload, signal: AbortSignal): Promise<void> => {
  const { reads, models, traces, provider, threshold } = options
  const { traceId } = payload
  await models.passed(BigInt(payload.position), CAUGHT_UP_MS)
  const header = await summaryHeader(reads, traceId)
  if (!header || header.incarnation !== BigInt(payload.incarnation)) return
  const { messageCount, deletions } = header
  if (!isDue(messageCount, header.summarised, threshold)) return
  const summary = await provider(await readConversation(reads, traceId, messageCount), signal)
  signal.throwIfAborted()
  options.assertWritable()
  const decide = summarise({ ...summary, messageCount, deletions }, threshold)
  await traces.transact(traceId, { decide, answer: () => {} }, {})
}

/** What the job runner runs. A failure is tried again with backoff; after the last one the trace's next messages do. */
export const newJob =
  (options: JobOptions) =>
  async (payload: Payload, { isLast, signal }: Attempt): Promise<void> => {
    const { pool, logger } = options
    try {
      await makeSummary(options, payload, signal)
    } catch (error) {
      const said = { trace: payload.traceId, reason: (error as Error).message }
      if (signal.aborted || !isLast) logger.info(said, 'a summary has failed and is tried again')
      else {
        logger.warn(said, 'a summary has failed for the last time; new messages will ask for it again')
        await giveUp(pool, payload)
      }
      throw new Error(said.reason)
    }
  }
