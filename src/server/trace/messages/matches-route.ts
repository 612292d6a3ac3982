import type { FastifyInstance } from 'fastify'
import { comparable } from '../../../base/folded.ts'
import { rawItemsInSteps } from '../../../base/json/raw-values.ts'
import { type Match, type Matches, messages, MOST_MATCHES } from '../../../contract/messages.ts'
import { endOfList, jsonText, type MemberTexts } from '../../http/json-text.ts'
import { route } from '../../http/route.ts'
import { locateToRead } from '../locate.ts'
import { checkRight } from '../right-to-read.ts'
import type { TraceServices } from '../services.ts'
import { chunkSizeOf, messageChunks } from './chunks.ts'
import { occurrences } from './occurrences.ts'
import { textsOf } from './part-texts.ts'
import type { MessageListRow } from './queries.ts'

type MatchPlace = Omit<MemberTexts<Match>, 'count'>
type Row = Pick<MessageListRow, 'external_id' | 'text_content' | 'parts'>

/** Searches for a text in messages, which are passed in list order. */
export const newMatches = (text: string) => {
  const wanted = comparable(text)
  let total = 0 // occurrences
  let shown = 0 // entries
  let ordinal = 0 // the place of the next message in the list

  /** Yields empty texts between steps, so that other work gets its turn, and at last the text of an entry, if the text occurs. */
  function* search(texts: Iterable<string | undefined>, place: MatchPlace): Generator<string, void> {
    let count = 0
    for (const one of texts) {
      if (one === undefined) yield ''
      else
        for (const found of occurrences(one, wanted)) {
          count += found
          yield ''
        }
    }
    if (count === 0) return
    total += count
    if (shown < MOST_MATCHES) yield `${shown === 0 ? '' : ','}${jsonText<Match>({ ...place, count: String(count) })}`
    shown += 1
  }

  /** The entries of a message in the answer, separated by commas. */
  function* of({ external_id, text_content, parts }: Row): Generator<string, void> {
    const place = { externalId: JSON.stringify(external_id), ordinal: String(ordinal++), part: undefined }
    if (text_content !== null) yield* search([JSON.parse(text_content) as string], place)
    let index = 0
    for (const part of rawItemsInSteps(`[${parts ?? ''}]`)) {
      if (part === undefined) yield ''
      else yield* search(textsOf(part), { ...place, part: String(index++) })
    }
  }

  return { of, total: () => total }
}

/** Where a text occurs in the messages of a trace. All of them are read, as in a long list: chunk by chunk, in turns with other work. */
export const matchesRoute = (
  app: FastifyInstance,
  { reads, longLists }: Pick<TraceServices, 'reads' | 'longLists'>,
): void => {
  route(app, messages, 'GET /v1/traces/{externalId}/messages/matches', async (request, reply) => {
    const { caller, params, query } = request
    const { trace, reader } = await locateToRead(reads, { ...params, ...query }, caller)
    const matches = newMatches(query.q)
    return longLists.send(reply, {
      reader,
      check: () => checkRight(reads, reader, trace.incarnation),
      chunkSize: 2 * chunkSizeOf(trace), // a chunk, and what is made of it while it is looked through
      chunks: () => messageChunks(reads, trace, { includeParts: true, userId: caller?.userId }),
      before: '{"ok":true,"data":{"matches":[',
      toText: matches.of,
      after: () => `${endOfList<Matches, 'matches'>({ total: String(matches.total()) })}}`,
    })
  })
}
