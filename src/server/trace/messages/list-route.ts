import type { FastifyInstance, FastifyReply } from 'fastify'
import { messages } from '../../../contract/messages.ts'
import type { Caller } from '../../http/caller.ts'
import { okUnlessKnown } from '../../http/reply.ts'
import { invalid } from '../../http/http-error.ts'
import { route } from '../../http/route.ts'
import { orMoved } from '../moved.ts'
import { type MessagesToRead, chunkSizeOf, messageChunks } from './chunks.ts'
import { cursorAfterMessage, keysOfCursor, readCursor } from './cursor.ts'
import { listText, newMessagePage, pageEnd } from './page.ts'
import { keysBefore } from './places.ts'
import { type PageTrace, readPage } from './read-page.ts'
import { type TraceName, locateToRead, readerOf } from '../locate.ts'
import { momentOf } from '../moment.ts'
import { namedBy } from '../queries.ts'
import { checkRight } from '../right-to-read.ts'
import type { TraceServices } from '../services.ts'

/** A list up to this many characters is answered at once; a longer one is sent as its reader takes it. */
const AT_ONCE = 256 * 1024

/** The messages of a trace: short lists and pages at once, of one statement; long ones chunk by chunk as their reader takes them. */
export const messageListRoute = (
  app: FastifyInstance,
  { reads, longLists, past }: Pick<TraceServices, 'reads' | 'longLists' | 'past'>,
): void => {
  route(app, messages, 'GET /v1/traces/{externalId}/messages', async (request, reply) => {
    const { caller, params, query } = request
    const { includeParts = false, limit, cursor, changedSince, around } = query
    const moment = momentOf(query)
    if (around !== undefined && [moment, cursor, changedSince].some((other) => other !== undefined))
      throw invalid('around', 'works on the present only: leave out cursor, changedSince, revision and at')
    if (moment && changedSince !== undefined)
      throw invalid('changedSince', 'works on the present only: leave out revision and at')
    if (moment) return past.messages(request, reply, moment, { includeParts, limit, cursor })
    // One message more shows that there is a next page.
    const after = around === undefined ? keysOfCursor(cursor) : await keysAround(request, around)
    const asked = { includeParts, changedSince, limit: limit && limit + 1, after }
    const named = namedBy(params.externalId, caller, query.namespace)
    const read = readPage(reads, { ...asked, named }, AT_ONCE)
    const { trace, rows, rest } = await orMoved(reads, { ...params, ...query }, caller, read)
    const page = newMessagePage(limit)
    const end = endOf(page, trace, readCursor(trace, 'present', cursor)?.revision)
    if (!rest) return okUnlessKnown(reply, listText(page.textsOf(rows), ...end(trace.revision)))
    return sendLong(reply, caller, trace, asked, { page, end })
  })

  type Named = {
    readonly caller: Caller | undefined
    readonly params: TraceName
    readonly query: { readonly namespace?: string | undefined; readonly limit?: number | undefined }
  }

  /** The keys after which the page around a message begins. */
  const keysAround = async ({ caller, params, query }: Named, around: string) => {
    const { trace } = await locateToRead(reads, { ...params, ...query }, caller)
    return keysBefore(reads, trace, around, query.limit === undefined ? Infinity : Math.floor(query.limit / 2))
  }

  type Page = ReturnType<typeof newMessagePage>

  /** The cursor after a page, undefined for the last one, and the revision that the page reports: that of the first page of its list. */
  const endOf = (page: Page, trace: PageTrace, first: bigint | undefined) => (own: bigint) => {
    const last = page.continuesAfter()
    const shown = first ?? own
    return [last && cursorAfterMessage(trace, 'present', last, shown), shown] as const
  }

  /** A list that is too long to be answered at once. */
  const sendLong = (
    reply: FastifyReply,
    caller: Caller | undefined,
    trace: PageTrace,
    asked: Omit<MessagesToRead, 'userId'>,
    { page, end }: { readonly page: Page; readonly end: ReturnType<typeof endOf> },
  ) => {
    const reader = readerOf(trace, caller)
    let revision: bigint | undefined
    return longLists.send(reply, {
      reader,
      check: () => checkRight(reads, reader, trace.incarnation),
      chunkSize: chunkSizeOf(trace),
      async *chunks() {
        for await (const chunk of messageChunks(reads, trace, { ...asked, userId: caller?.userId })) {
          revision ??= chunk.revision
          yield chunk
        }
      },
      before: '{"ok":true,"data":{"messages":[',
      toText: page.toText,
      isFull: page.isFull,
      after: () => `${pageEnd(...end(revision!))}}`,
    })
  }
}
