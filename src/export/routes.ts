import type { FastifyInstance, FastifyReply } from 'fastify'
import { textBytes } from '../engine/sized-cache.ts'
import { traceWithTimeline } from '../history/locate.ts'
import { listOfHistory, openPast } from '../history/open-past.ts'
import type { HistoryServices } from '../history/services.ts'
import type { Caller } from '../http/caller.ts'
import type { LongList } from '../http/long-list.ts'
import { type ExportFormat as Format, exports } from '../contract/export.ts'
import { route } from '../http/route.ts'
import { sessionHeaders } from '../pages/headers.ts'
import { locateToRead } from '../trace/locate.ts'
import { momentOf } from '../trace/moment.ts'
import { checkRight } from '../trace/right-to-read.ts'
import { attachment } from './attachment.ts'
import type { Draft, PublicFiles, FileVersion } from './public-files.ts'
import { type PresentSource, type Source, pastSource, presentSource } from './source.ts'
import { newTranscript } from '../transcript/transcript.ts'
import { readTrace, titleOf } from '../transcript/head.ts'

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
    reply.raw.once('close', () => draft?.drop())
    return longLists.send(reply, {
      ...readers,
      chunkSize: source.chunkSize,
      chunks: source.chunks,
      before: () => {
        draft = draftOf()
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
    const source = presentSource({ reads, models }, trace, caller?.userId)
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
