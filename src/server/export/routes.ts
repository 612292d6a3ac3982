import type { FastifyInstance, FastifyReply } from 'fastify'
import { type ExportFormat as Format, exports } from '../../contract/export.ts'
import { ExplainedUnavailable } from '../../eventstore/engine/rejected.ts'
import { textBytes } from '../../eventstore/engine/sized-cache.ts'
import { traceWithTimeline } from '../history/locate.ts'
import { listOfHistory, openPast, type Past } from '../history/open-past.ts'
import type { HistoryServices } from '../history/services.ts'
import type { Caller } from '../http/caller.ts'
import type { Chunk, Chunks, LongList } from '../http/long-list.ts'
import { route } from '../http/route.ts'
import { whenOver } from '../http/when-over.ts'
import { sessionHeaders } from '../pages/headers.ts'
import { locateToRead } from '../trace/locate.ts'
import { chunkSizeOf, messageChunks } from '../trace/messages/chunks.ts'
import type { MessageListRow } from '../trace/messages/queries.ts'
import { messageText } from '../trace/messages/views.ts'
import { shownRow } from '../trace/model-names.ts'
import { momentOf } from '../trace/moment.ts'
import { type StoredDetail, traceDetail } from '../trace/queries.ts'
import { checkRight } from '../trace/right-to-read.ts'
import type { TraceServices } from '../trace/services.ts'
import { detailText } from '../trace/views.ts'
import { readTrace, titleOf } from '../../transcript/head.ts'
import { newTranscript } from '../../transcript/transcript.ts'
import { attachment } from './attachment.ts'
import type { Draft, FileVersion, PublicFiles } from './public-files.ts'

/** A trace to export, and its messages in order, of the present or of a past moment. */
type Source<Row> = {
  /** The approximate number of characters of a chunk. */
  readonly chunkSize: number
  /** @throws BrokenOff if the remaining messages have changed meanwhile */
  chunks(): Chunks<Row>
  /** The JSON text of the trace, as `GET /v1/traces/{externalId}` shows it. To be called after the first chunk was read. */
  trace(): string
  /** The JSON text of a message with its parts, as the API shows it. */
  messageText(row: Row): string
}

type PresentSource = Source<MessageListRow> & {
  /** The trace, incarnation and revision that `trace` shows. */
  present(): Pick<StoredDetail, 'id' | 'incarnation' | 'revision' | 'visibility'>
}

type Services = Pick<TraceServices, 'reads' | 'models'>

const MOST_TRIES = 5

/** The trace as it is now, and its messages, all of one revision, for a user that may read them. */
const presentSource = async (
  { reads, models }: Services,
  first: StoredDetail,
  userId: string | undefined,
): Promise<PresentSource> => {
  const known = await models.known()
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
    trace: () => detailText(shownRow(known, trace)),
    present: () => trace,
    messageText,
  }
}

/** The trace at a past moment, with the messages that it had then. */
const pastSource = async (past: Past): Promise<Source<MessageListRow>> => {
  const detail = await past.detail()
  return {
    chunkSize: past.chunkSize,
    chunks: () => past.messages({ includeParts: true }),
    trace: () => detail,
    messageText,
  }
}

const types: Readonly<Record<Format, string>> = {
  md: 'text/markdown; charset=utf-8',
  html: 'text/html; charset=utf-8',
  json: 'application/json; charset=utf-8',
}

export type ExportServices = HistoryServices & { readonly publicFiles: PublicFiles }

/** `GET /v1/traces/{externalId}/export`: a session as a file. */
export const exportRoute = (app: FastifyInstance, services: ExportServices): void => {
  const { reads, models, longLists, publicFiles } = services

  type Readers = Pick<LongList<never>, 'reader' | 'check'>

  const headersOf = (trace: string, format: Format) => ({
    ...sessionHeaders,
    'content-type': types[format],
    'content-disposition': attachment(titleOf(readTrace(trace)), format),
  })

  /** Makes a file, and sends it at the same time. `draftOf` begins the file in the cache if the trace is public. */
  const send = <Row>(
    reply: FastifyReply,
    format: Format,
    source: Source<Row>,
    readers: Readers,
    draftOf: () => Draft | undefined = () => undefined,
  ) => {
    let transcript: ReturnType<typeof newTranscript>
    let draft: Draft | undefined
    const kept = (text: string) => {
      draft?.add(text)
      return text
    }
    return longLists.send(reply, {
      ...readers,
      chunkSize: source.chunkSize,
      chunks: source.chunks,
      before: () => {
        draft = draftOf()
        if (draft) whenOver(reply.raw, draft.drop)
        transcript = newTranscript(format, source.trace())
        return kept(transcript.start())
      },
      *toText(row: Row) {
        for (const text of transcript.add(source.messageText(row))) yield kept(text)
      },
      *after() {
        for (const text of transcript.end()) yield kept(text)
        draft?.keep()
      },
      headers: () => headersOf(source.trace(), format),
    })
  }

  /** Sends a cached file. */
  const sendKept = (
    reply: FastifyReply,
    format: Format,
    trace: string,
    pieces: readonly string[],
    readers: Readers,
  ) => {
    const size = textBytes(pieces)
    return longLists.send(reply, {
      ...readers,
      chunkSize: size,
      async *chunks() {
        yield { rows: pieces, size }
      },
      before: '',
      toText: (piece: string) => [piece],
      after: () => '',
      headers: () => headersOf(trace, format),
    })
  }

  const versionOf = (source: PresentSource, format: Exclude<Format, 'json'>): FileVersion => {
    const { id: traceId, incarnation, revision } = source.present()
    return { traceId, incarnation, revision, trace: source.trace(), format }
  }

  type ExportRequest = {
    readonly caller: Caller | undefined
    readonly externalId: string
    readonly namespace: string | undefined
    readonly format: Format
  }

  /** Sends a trace as it is now. */
  const sendPresent = async (reply: FastifyReply, request: ExportRequest) => {
    const { caller, format } = request
    const { trace, reader } = await locateToRead(reads, request, caller)
    let position: bigint | undefined // the checkpoint of the first check, which comes before the content is read
    const check = async () => {
      const checked = await checkRight(reads, reader, trace.incarnation)
      position ??= checked
      return checked
    }
    const readers = { reader, check }
    const source = await presentSource({ reads, models }, trace, caller?.userId)
    if (format === 'json' || trace.visibility !== 'public') return send(reply, format, source, readers)
    const kept = publicFiles.get(versionOf(source, format))
    if (kept) return sendKept(reply, format, source.trace(), kept, readers)
    return send(reply, format, source, readers, () =>
      source.present().visibility === 'public' ? publicFiles.begin(versionOf(source, format), position!) : undefined,
    )
  }

  route(app, exports, 'GET /v1/traces/{externalId}/export', async ({ caller, params, query }, reply) => {
    const { externalId } = params
    const { format, namespace } = query
    const moment = momentOf(query)
    if (!moment) return sendPresent(reply, { caller, externalId, namespace, format })
    const present = await traceWithTimeline(services, { externalId, namespace }, caller)
    const { reader, check } = listOfHistory(services, present, caller)
    const source = await pastSource(await openPast(services, present, moment))
    return send(reply, format, source, { reader, check })
  })
}
