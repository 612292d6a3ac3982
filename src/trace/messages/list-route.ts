import type { FastifyInstance, FastifyReply } from 'fastify'
import { type MessageList, messages } from '../../contract/messages.ts'
import { invalid } from '../../http/http-error.ts'
import type { JsonText } from '../../http/json-text.ts'
import { fittingTexts } from '../../http/list-page.ts'
import { route } from '../../http/route.ts'
import type { Reader } from '../../http/long-list.ts'
import { type PlaceInList, cursorBehind, readCursor } from './cursor.ts'
import { listText, newMessagePage, pageEnd } from './page.ts'
import { CHUNK_WEIGHT, WHOLE_WEIGHT, messageChunks } from './chunks.ts'
import { ALL_MESSAGES as ALL, type MessageListRow, chosenFor, listMessages, messageValues } from './queries.ts'
import { locateToRead } from '../locate.ts'
import { momentOf } from '../moment.ts'
import type { StoredDetail } from '../queries.ts'
import { checkRight } from '../right-to-read.ts'
import { messageText } from './views.ts'
import type { AskedMessages, TraceServices } from '../services.ts'

/** Up to this many characters a list is answered at once; a longer one as its reader takes it. */
const QUICK_WEIGHT = 256 * 1024

/** The messages of a trace: short lists at once, long ones chunk by chunk as their reader takes them. */
export const messageListRoute = (
  app: FastifyInstance,
  { reads, longLists, past }: Pick<TraceServices, 'reads' | 'longLists' | 'past'>,
): void => {
  route(app, messages, 'GET /v1/traces/{externalId}/messages', async (request, reply) => {
    const { caller, params, query } = request
    const { includeParts = false, limit, cursor, changedSince } = query
    const asked = { includeParts, limit, cursor, changedSince }
    const moment = momentOf(query)
    if (moment && changedSince !== undefined)
      throw invalid('changedSince', 'is of the present: it cannot be given with a revision or a time')
    if (moment) return past.messages(request, reply, moment, asked)
    const { trace, reader } = await locateToRead(reads, { ...params, ...query }, caller)
    return list(reply, trace, reader, asked)
  })

  /** What was before an erased past is of no use to compare with: then everything is new. */
  const knownSince = ({ erased }: StoredDetail, since: bigint | undefined) =>
    since !== undefined && since < (erased ?? 0n) ? -1n : since

  const list = async (reply: FastifyReply, trace: StoredDetail, reader: Reader, asked: Asked) => {
    const { id, incarnation } = trace
    const { includeParts, limit, cursor } = asked
    const changedSince = knownSince(trace, asked.changedSince)
    const from = readCursor(trace, 'present', cursor)
    const values = messageValues(id, incarnation, limit === undefined ? ALL : limit + 1, from?.behind, changedSince)
    if (limit === 0) return listText([], undefined, from?.revision ?? trace.revision)
    const weight = Number(trace.bytes)
    const wanted = { incarnation, weight, includeParts, values, chosen: await chosenFor(reads, trace, changedSince) }
    if (weight <= QUICK_WEIGHT) return pageText(trace, from, await listMessages(reads, wanted), limit ?? ALL)
    const page = newMessagePage(limit)
    let revision = from?.revision
    return longLists.send(reply, {
      reader,
      check: () => checkRight(reads, reader, incarnation),
      chunkWeight: weight <= WHOLE_WEIGHT ? weight : CHUNK_WEIGHT,
      chunks: async function* () {
        for await (const chunk of messageChunks(reads, wanted)) {
          revision ??= chunk.revision // known from the first chunk on
          yield chunk
        }
      },
      before: '{"ok":true,"data":{"messages":[',
      toText: page.toText,
      isFull: page.isFull,
      after: () => {
        const shown = revision ?? trace.revision
        return `${pageEnd(cursorOf(trace, page.goesOnBehind(), shown), shown)}}`
      },
    })
  }
}

type Asked = AskedMessages & { readonly changedSince: bigint | undefined }

/** The cursor behind a message of a page; without `last` the list ends with it. */
const cursorOf = (trace: StoredDetail, last: MessageListRow | undefined, revision: bigint) =>
  last && cursorBehind(trace, 'present', last, revision)

const pageText = (
  trace: StoredDetail,
  from: PlaceInList | undefined,
  { rows, revision }: Awaited<ReturnType<typeof listMessages>>,
  limit: number,
): JsonText<MessageList> => {
  const texts = rows.map(messageText)
  const count = limit === ALL ? rows.length : fittingTexts(texts, limit)
  const last = rows.length > count ? rows[count - 1] : undefined
  const shown = from?.revision ?? revision
  return listText(texts.slice(0, count), cursorOf(trace, last, shown), shown)
}
