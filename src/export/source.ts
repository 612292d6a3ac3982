import { ExplainedUnavailable } from '../engine/rejected.ts'
import type { Chunk, Chunks } from '../http/long-list.ts'
import { chunkSizeOf, messageChunks } from '../trace/messages/chunks.ts'
import type { MessageListRow } from '../trace/messages/queries.ts'
import { rowWithModelName } from '../trace/model-names.ts'
import { type StoredDetail, traceDetail } from '../trace/queries.ts'
import type { TraceServices } from '../trace/services.ts'
import { messageText } from '../trace/messages/views.ts'
import { detailText } from '../trace/views.ts'
import type { Past } from '../history/open-past.ts'

/** A trace to export, and its messages in order, of the present or of a past moment. */
export type Source<Row> = {
  /** The approximate number of characters of a chunk. */
  readonly chunkSize: number
  /** @throws BrokenOff if the remaining messages have changed meanwhile */
  chunks(): Chunks<Row>
  /** The JSON text of the trace, as `GET /v1/traces/{externalId}` shows it. To be called after the first chunk was read. */
  trace(): string
  /** The JSON text of a message with its parts, as the API shows it. */
  messageText(row: Row): string
}

export type PresentSource = Source<MessageListRow> & {
  /** The trace, incarnation and revision that `trace` shows. */
  present(): Pick<StoredDetail, 'id' | 'incarnation' | 'revision' | 'visibility'>
}

type Services = Pick<TraceServices, 'reads' | 'models'>

const MOST_TRIES = 5

/** The trace as it is now, and its messages, all of one revision, for a user that may read them. */
export const presentSource = (
  { reads, models }: Services,
  first: StoredDetail,
  userId: string | undefined,
): PresentSource => {
  const { id, incarnation } = first
  let trace = first
  const listing = () => messageChunks(reads, { id, incarnation, bytes: trace.bytes }, { includeParts: true, userId })

  /** Reads the trace and the first chunk until both are of the same revision. */
  const agree = async () => {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const chunks = listing()
      const { value: chunk } = await chunks.next()
      if (!chunk || chunk.revision === trace.revision) return { chunk, chunks }
      trace = (await traceDetail(reads, id)) ?? trace
      if (chunk.revision === trace.revision) return { chunk, chunks }
    }
    throw new ExplainedUnavailable('The trace was changed during each attempt to read it: try again')
  }

  async function* chunks(): AsyncGenerator<Chunk<MessageListRow>, void> {
    const { chunk, chunks } = await agree()
    if (chunk) yield chunk
    yield* chunks
  }

  return {
    chunkSize: chunkSizeOf(first),
    chunks,
    trace: () => detailText(rowWithModelName(models, trace)),
    present: () => trace,
    messageText,
  }
}

/** The trace at a past moment, with the messages that it had then. */
export const pastSource = async (past: Past): Promise<Source<MessageListRow>> => {
  const detail = await past.detail()
  return {
    chunkSize: past.chunkSize,
    chunks: () => past.messages({ includeParts: true }),
    trace: () => detail,
    messageText,
  }
}
