import { z } from 'zod'
import { flag, id, nextCursor, text } from './fields.ts'
import { Cursor, Limit, WithChildren, badPage } from './parameters.ts'
import { type Api, data } from './route.ts'
import { ListedTrace } from './trace.ts'

export const FeedTrace = ListedTrace.extend({
  namespace: z
    .object({
      id: id('the namespace'),
      slug: text('The slug of the namespace', 'my-team'),
      displayName: text('The name of the namespace', 'My team'),
    })
    .meta({ description: 'The namespace that the trace belongs to' }),
  author: z
    .object({
      id: id('the user'),
      displayName: text('The name of the user; absent if the user has none', 'Ada').optional(),
    })
    .meta({ description: 'The user who created the trace; absent if not known' })
    .optional(),
}).meta({ id: 'FeedTrace', description: 'A trace, as the feed shows it' })
export type FeedTrace = z.infer<typeof FeedTrace>

const Feed = z.object({
  traces: z.array(FeedTrace).meta({ description: 'The traces of this page' }),
  isAuthenticated: flag('Whether the request came with a valid token'),
  nextCursor,
})
export type Feed = z.infer<typeof Feed>

export const feed = {
  'GET /v1/feed': {
    tag: 'feed',
    summary: 'List public traces and, if you are signed in, those of your active namespace; newest first',
    description: 'A page has 50 traces unless `limit` says otherwise, and at most 8 MiB.',
    auth: 'optional',
    query: { limit: Limit.optional(), cursor: Cursor.optional(), children: WithChildren.optional() },
    answer: data(Feed),
    errors: { invalid_request: badPage },
  },
} as const satisfies Api
