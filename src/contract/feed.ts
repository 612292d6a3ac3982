import { z } from 'zod'
import { flag, id, nextCursor, text } from './fields.ts'
import { Cursor, Limit } from './parameters.ts'
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
    .object({ id: id('the user'), displayName: text('The name of the user, if they gave one', 'Ada').optional() })
    .meta({ description: 'The user who created the trace; absent when that one is not known' })
    .optional(),
}).meta({ id: 'FeedTrace', description: 'A trace as it stands in the feed' })
export type FeedTrace = z.infer<typeof FeedTrace>

const Feed = z.object({
  traces: z.array(FeedTrace).meta({ description: 'The traces of this page' }),
  isAuthenticated: flag('Whether the caller is signed in'),
  nextCursor,
})
export type Feed = z.infer<typeof Feed>

export const feed = {
  'GET /v1/feed': {
    tag: 'feed',
    summary: "Public traces of everybody and, signed in, those of the session's namespace; newest first",
    description:
      '50 a page if `limit` does not say otherwise, and at most 8 MiB. Errors: `invalid_request` (400) for a ' +
      '`limit` or `cursor` that is none.',
    auth: 'optional',
    query: { limit: Limit.optional(), cursor: Cursor.optional() },
    answer: data(Feed),
  },
} as const satisfies Api
