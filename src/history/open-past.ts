import type { Caller } from '../http/caller.ts'
import { notFound } from '../http/http-error.ts'
import { BrokenOff, type Chunk, type LongList, type Reader } from '../http/long-list.ts'
import { CHUNK_SIZE } from '../trace/messages/chunks.ts'
import type { MessageListRow } from '../trace/messages/queries.ts'
import { checkRight } from '../trace/right-to-read.ts'
import type { Moment } from '../trace/moment.ts'
import { stateText } from '../trace/views.ts'
import type { PresentTraceRow } from './locate.ts'
import { type PastMessagesOptions, orderSize, pastMessages } from './past-messages.ts'
import { pastShape } from './past-shape.ts'
import { pastTimes } from './past-times.ts'
import { type PastTrace, pastTrace, revisionAt } from './past.ts'
import type { HistoryServices } from './services.ts'

/** A trace with its messages as they were, for routes that show them in any form. */
export type Past = PastTrace & {
  /** About how many characters a chunk has, together with the memory for the order of the list. */
  readonly chunkSize: number
  /** A TraceDetail as JSON text. @throws 404 if the trace is deleted meanwhile */
  detail(): Promise<string>
  /** The messages in their order at that time, chunk by chunk. The chunks throw BrokenOff if the trace is deleted meanwhile. */
  messages(options: PastMessagesOptions): AsyncGenerator<Chunk<MessageListRow>, void>
}

const detailOf = async (services: HistoryServices, past: PastTrace): Promise<string> => {
  try {
    const [times, shape] = await Promise.all([pastTimes(services, past), pastShape(services, past)])
    return stateText(past.id, past.slug, past.trace, { ...times, shape })
  } catch (error) {
    throw error instanceof BrokenOff ? notFound() : error
  }
}

/**
 * A trace that `traceWithTimeline` has found, as it was at a moment.
 * @throws 404 before the creation and beyond the last revision
 */
export const openPast = async (services: HistoryServices, present: PresentTraceRow, moment: Moment): Promise<Past> => {
  const past = await pastTrace(services, present, await revisionAt(services, present, moment))
  const chunkSize = CHUNK_SIZE + orderSize(past)
  return {
    ...past,
    chunkSize,
    detail: () => detailOf(services, past),
    messages: (options) => pastMessages(services, past, options),
  }
}

/** Options of a list of the past (`http/long-lists.ts`), which ends if its reader is no longer a member, or the trace is gone. */
export const listOfHistory = (
  { reads }: Pick<HistoryServices, 'reads'>,
  trace: PresentTraceRow,
  caller: Caller | undefined,
): Pick<LongList<unknown>, 'reader' | 'check' | 'chunkSize'> => {
  const reader: Reader = { caller, namespaceId: trace.namespace_id, traceId: trace.id, isMember: true }
  return { reader, check: () => checkRight(reads, reader, trace.incarnation), chunkSize: CHUNK_SIZE }
}
