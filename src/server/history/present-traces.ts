import { Rejected } from '../../eventstore/engine/rejected.ts'
import { type LastRecord, WrongRevision } from '../../eventstore/log/log.ts'
import { type StoredDetail, traceDetail } from '../trace/queries.ts'
import { traceSource } from '../trace/source.ts'
import type { PresentTrace } from '../trace/state.ts'
import type { HistoryServices } from './services.ts'

/** A trace as the read models and the timeline show it, at the end of its stream. */
export type TraceAtEnd = {
  readonly trace: PresentTrace
  readonly detail: StoredDetail
  /** The time of its last event, in milliseconds. */
  readonly at: number
  /** The last record of its stream, which a crash may have left behind that event. */
  readonly last: LastRecord
}

export type PresentTraces = (id: string) => Promise<TraceAtEnd>

const notFound = () => new Rejected('not_found', 'Not found')

/**
 * Returns a function that reads a whole trace as it is now.
 * It throws Rejected not_found, and WrongRevision when the read models show another revision than the end of the stream.
 */
export const newPresentTraces = ({
  reads,
  timeline,
  log,
  caughtUp,
}: Pick<HistoryServices, 'reads' | 'timeline' | 'log'> & {
  readonly caughtUp: (position: bigint) => Promise<void>
}): PresentTraces => {
  const source = traceSource(reads, caughtUp)
  return async (id) => {
    const stream = `trace-${id}`
    const last = await log.last(stream)
    if (!last) throw notFound()
    await Promise.all([caughtUp(last.position), timeline.caughtUp(last.position)])
    timeline.assertNotQuarantined(stream)
    const { state, revision, at } = await source.load(id, [], last.position)
    const detail = await traceDetail(reads, id)
    if (state.trace.is === 'absent' || !detail) throw notFound()
    if (detail.revision !== revision) throw new WrongRevision(stream, detail.revision)
    return { trace: state.trace, detail, at, last }
  }
}
