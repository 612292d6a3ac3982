import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { count } from '../../contract/fields.ts'
import { notFound } from '../../http/http-error.ts'
import { Key } from '../../contract/parameters.ts'
import { answers } from '../../http/reply.ts'
import { isLongerThan } from '../../text-limits.ts'
import { InNamespace } from '../moment.ts'
import { assertMayRead } from '../policy.ts'
import { resolveTrace, traceDetail, userRoleOf } from '../queries.ts'
import { checkRight } from '../right-to-read.ts'
import type { TraceServices } from '../services.ts'
import { CHUNK_WEIGHT, WHOLE_WEIGHT, messageChunks } from './chunks.ts'
import { MOST_MATCHES, newMatches } from './matches.ts'
import { messageMeanings } from '../meanings.ts'
import { ALL_MESSAGES, messageValues } from './queries.ts'

const MOST_CHARACTERS = 400

const Params = z.object({ externalId: Key })
const Query = z.object({
  q: z
    .string()
    .min(1)
    .refine((text) => !isLongerThan(text, MOST_CHARACTERS), {
      error: `must not be longer than ${MOST_CHARACTERS} characters`,
    })
    .meta({ description: 'The text to look for, as it stands: 1 to 400 characters', examples: ['login'] }),
  namespace: InNamespace,
})
const Matches = z.object({
  matches: z
    .array(
      z.object({
        externalId: z.string().meta(messageMeanings.externalId),
        ordinal: count('The place of the message in the list of messages, from 0'),
        part: count('The place of the part in its message, from 0; absent for `textContent`').optional(),
        count: count('How often the text occurs there'),
      }),
    )
    .meta({ description: `In list order; at most ${MOST_MATCHES}` }),
  total: count('How often the text occurs in all messages, also in those that are not in `matches`'),
})

/** A chunk of a trace, and what is made of it while it is looked through. */
const weightOf = (weight: number) => 2 * (weight <= WHOLE_WEIGHT ? weight : CHUNK_WEIGHT)

/** Where a text occurs in the messages of a trace. All of them are read, as in a long list: chunk by chunk, in turns with other work. */
export const matchesRoute = (
  app: FastifyInstance,
  { reads, longLists }: Pick<TraceServices, 'reads' | 'longLists'>,
): void => {
  app.get<{ Params: { externalId: string }; Querystring: z.infer<typeof Query> }>(
    '/v1/traces/:externalId/messages/matches',
    {
      config: { auth: 'optional' },
      schema: {
        summary: 'Find a text in the messages of a trace',
        description:
          'Who may read the trace may search it. Without regard to case, in texts, thinking, names of called tools, what they were ' +
          'called with (texts and numbers), what they gave, and errors. Errors: `invalid_request` (400) for a `q` that is missing, ' +
          'empty or too long; `unauthorized` (401) without a token for a trace that is not public; `not_found` (404).',
        tags: ['messages'],
        params: Params,
        querystring: Query,
        response: answers(Matches, 401, 404),
      },
    },
    async ({ caller, params: { externalId }, query }, reply) => {
      const hit = await resolveTrace(reads, externalId, caller, query.namespace)
      if (!hit) throw notFound()
      assertMayRead(hit, userRoleOf(caller, hit))
      const trace = await traceDetail(reads, hit.id)
      if (!trace) throw notFound()
      assertMayRead(trace, userRoleOf(caller, hit))
      const { id, incarnation } = trace
      const reader = { caller, namespaceId: hit.namespaceId, traceId: id, isMember: hit.role !== undefined }
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
        after: () => `],"total":${matches.total()}}}`,
      })
    },
  )
}
