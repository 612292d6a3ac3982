import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { text } from '../contract/fields.ts'
import { invalid } from '../http/http-error.ts'
import { Key, Revision } from '../contract/parameters.ts'
import { answers } from '../http/reply.ts'
import { InNamespace } from '../trace/moment.ts'
import { messagesDifference, traceDifference } from './diff.ts'
import { traceWithTimeline } from './locate.ts'
import { listOfHistory } from './open-past.ts'
import { pastTrace, revisionAt } from './past.ts'
import type { HistoryServices } from './services.ts'
import { Patch } from './views.ts'

const Query = z.object({
  from: Revision.meta({ description: 'The revision of the trace to begin with', examples: ['1'] }),
  to: Revision.meta({ description: 'The revision to end with. Default: the last one', examples: ['4'] }).optional(),
  namespace: InNamespace,
})

const revision = (description: string) => z.int().meta({ description, examples: [4] })

const Difference = z.object({
  from: revision('The revision to begin with'),
  to: revision('The revision to end with'),
  patch: Patch.meta({
    description: 'What changed of the trace itself, as RFC 6902: its fields, `ai_title` and `ai_summary`',
  }),
  messages: z
    .object({
      added: z
        .array(text('The externalId of a message', 'message-1'))
        .meta({ description: 'The messages that were added, in the order of their arrival' }),
      updated: z
        .array(
          z.object({
            externalId: text('The externalId of the message', 'message-1'),
            patch: Patch.meta({
              description: 'What changed of its fields and `parts`, a part always whole, as RFC 6902',
            }),
          }),
        )
        .meta({ description: 'The messages that were there before and differ, in the order of their arrival' }),
    })
    .meta({ description: 'What changed of the messages' }),
})

/** What changed of a trace and its messages between two revisions. */
export const diffRoute = (app: FastifyInstance, services: HistoryServices): void => {
  app.get<{ Params: { externalId: string }; Querystring: z.infer<typeof Query> }>(
    '/v1/traces/:externalId/diff',
    {
      config: { auth: 'optional' },
      schema: {
        summary: 'Compare a trace with what it was',
        description:
          'For members of its namespace. A revision in the middle of an append stands for the whole append. Errors: ' +
          '`invalid_request` (400) for a revision that is none, or a `from` behind `to`; `unauthorized` (401); `forbidden` ' +
          '(403) for others; `not_found` (404), also before the creation and beyond the last revision.',
        tags: ['history'],
        params: z.object({ externalId: Key }),
        querystring: Query,
        response: answers(Difference, 401, 403, 404),
      },
    },
    async ({ params, query, caller }, reply) => {
      const from = BigInt(query.from)
      if (query.to !== undefined && from > BigInt(query.to)) throw invalid('from', 'must not be behind `to`')
      const { externalId } = params
      const present = await traceWithTimeline(services, { externalId, namespace: query.namespace }, caller)
      const to = query.to === undefined ? present.revision : BigInt(query.to)
      const [before, after] = await Promise.all(
        [from, to].map(async (revision) =>
          pastTrace(services, present, await revisionAt(services, present, { revision })),
        ),
      )
      const patch = JSON.stringify(traceDifference(before!, after!))
      return services.longLists.send(reply, {
        ...listOfHistory(services, present, caller),
        chunks: () => messagesDifference(services, before!, after!),
        before: `{"ok":true,"data":{"from":${from},"to":${to},"patch":${patch},"messages":{`,
        toText: (row) => row,
        after: () => '}}}',
      })
    },
  )
}
