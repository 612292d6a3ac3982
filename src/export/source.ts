import { Unavailable } from '../engine/rejected.ts'
import type { Chunk, Chunks } from '../http/long-list.ts'
import { CHUNK_WEIGHT, WHOLE_WEIGHT, messageChunks } from '../trace/messages/chunks.ts'
import { ALL_MESSAGES, type MessageListRow, messageValues } from '../trace/messages/queries.ts'
import { rowWithModelName } from '../trace/model-names.ts'
import { type StoredDetail, traceDetail } from '../trace/queries.ts'
import type { TraceServices } from '../trace/services.ts'
import { messageText } from '../trace/messages/views.ts'
import { detailText } from '../trace/views.ts'
import type { Past } from '../history/open-past.ts'

/** What is exported: a trace, and its messages in order. Everything behind it is the same for the present and the past. */
export type Source<Row> = {
  /** About how many characters a chunk holds. */
  readonly chunkWeight: number
  /** @throws BrokenOff when what is still to come is not what it was */
  chunks(): Chunks<Row>
  /** The trace as the API shows it by itself, in JSON text. It is known when the first chunk is there. */
  trace(): string
  /** A message as the API shows it, with its parts, in JSON text. */
  messageText(row: Row): string
}

export type PresentSource = Source<MessageListRow> & {
  /** Which trace `trace` gives, at which revision. */
  present(): Pick<StoredDetail, 'id' | 'incarnation' | 'revision' | 'visibility'>
}

type Services = Pick<TraceServices, 'reads' | 'models'>

const MOST_TRIES = 5

/** The trace as it is now, and its messages, all of one revision. */
export const presentSource = ({ reads, models }: Services, first: StoredDetail): PresentSource => {
  const { id, incarnation } = first
  let trace = first
  const values = messageValues(id, incarnation, ALL_MESSAGES, undefined)
  const listing = () =>
    messageChunks(reads, { incarnation, weight: Number(trace.bytes), includeParts: true, chosen: 'all', values })

  /** The first chunk of a list that shows the same revision as `trace`. */
  const agree = async () => {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const chunks = listing()
      const { value: chunk } = await chunks.next()
      if (!chunk || chunk.revision === trace.revision) return { chunk, chunks }
      trace = (await traceDetail(reads, id)) ?? trace
      if (chunk.revision === trace.revision) return { chunk, chunks }
    }
    throw new Unavailable('the trace is changing all the time')
  }

  async function* chunks(): AsyncGenerator<Chunk<MessageListRow>, void> {
    const { chunk, chunks } = await agree()
    if (chunk) yield chunk
    yield* chunks
  }

  return {
    chunkWeight: Number(first.bytes) <= WHOLE_WEIGHT ? Number(first.bytes) : CHUNK_WEIGHT,
    chunks,
    trace: () => detailText(rowWithModelName(models, trace)),
    present: () => trace,
    messageText,
  }
}

/** The trace as it was, and the messages that it had then. */
export const pastSource = async (past: Past): Promise<Source<MessageListRow>> => {
  const detail = await past.detail()
  return {
    chunkWeight: past.chunkWeight,
    chunks: () => past.messages({ includeParts: true }),
    trace: () => detail,
    messageText,
  }
}
