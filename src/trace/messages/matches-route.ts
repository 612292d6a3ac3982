import type { FastifyInstance } from 'fastify'
import { type Matches, messages } from '../../contract/messages.ts'
import { endOfList } from '../../http/json-text.ts'
import { route } from '../../http/route.ts'
import { locateToRead } from '../locate.ts'
import { checkRight } from '../right-to-read.ts'
import type { TraceServices } from '../services.ts'
import { chunkSizeOf, messageChunks } from './chunks.ts'
import { newMatches } from './matches.ts'

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
