import type { FastifyInstance } from 'fastify'
import { type Matches, messages } from '../../contract/messages.ts'
import { endOfList } from '../../http/json-text.ts'
import { route } from '../../http/route.ts'
import { locateToRead } from '../locate.ts'
import { checkRight } from '../right-to-read.ts'
import type { TraceServices } from '../services.ts'
import { CHUNK_WEIGHT, WHOLE_WEIGHT, messageChunks } from './chunks.ts'
import { newMatches } from './matches.ts'
import { ALL_MESSAGES, messageValues } from './queries.ts'

/** A chunk of a trace, and what is made of it while it is looked through. */
const weightOf = (weight: number) => 2 * (weight <= WHOLE_WEIGHT ? weight : CHUNK_WEIGHT)

/** Where a text occurs in the messages of a trace. All of them are read, as in a long list: chunk by chunk, in turns with other work. */
export const matchesRoute = (
  app: FastifyInstance,
  { reads, longLists }: Pick<TraceServices, 'reads' | 'longLists'>,
): void => {
  route(app, messages, 'GET /v1/traces/{externalId}/messages/matches', async (request, reply) => {
    const { caller, params, query } = request
    const { trace, reader } = await locateToRead(reads, { ...params, ...query }, caller)
    const { id, incarnation } = trace
    const weight = Number(trace.bytes)
    const values = messageValues(id, incarnation, ALL_MESSAGES)
    const matches = newMatches(query.q)
    return longLists.send(reply, {
      reader,
      check: () => checkRight(reads, reader, incarnation),
      chunkWeight: weightOf(weight),
      chunks: () => messageChunks(reads, { incarnation, weight, includeParts: true, values, chosen: 'all' }),
      before: '{"ok":true,"data":{"matches":[',
      toText: matches.of,
      after: () => `${endOfList<Matches, 'matches'>({ total: String(matches.total()) })}}`,
    })
  })
}
