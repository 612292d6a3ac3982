import { z } from 'zod'
import { invalid } from '../http/http-error.ts'
import { Key, Revision } from '../contract/parameters.ts'
import { EXAMPLE_SLUG } from '../http/openapi-examples.ts'
import { aTime, timeOf } from '../http/times.ts'
import type { Moment } from './services.ts'

/** What the query of a read of a trace may say of the past. */
export const pastQuery = {
  revision: Revision.meta({
    description: 'As it was after this revision of the trace, and the append that it is in; for members only',
  }).optional(),
  // Without an example, like the revision: a reader of the reference who fills in both would be refused.
  at: aTime('As it was at this time; for members only', []).optional(),
}

/** The namespace of the trace that is meant. */
export const InNamespace = Key.meta({
  description: 'The slug of a namespace: only a trace of this namespace is meant',
  examples: [EXAMPLE_SLUG],
}).optional()

/** The query of writes to a trace that is there. */
export const WriteQuery = z.object({ namespace: InNamespace })
export type WriteQuery = z.infer<typeof WriteQuery>

/** The past that a query asks for; undefined for the present. @throws 400 when it asks for two */
export const momentOf = (query: {
  readonly revision?: string | undefined
  readonly at?: string | undefined
}): Moment | undefined => {
  if (query.revision === undefined && query.at === undefined) return undefined
  if (query.revision !== undefined && query.at !== undefined)
    throw invalid('at', 'a revision and a time cannot be given both')
  return query.revision === undefined ? { at: timeOf(query.at)! } : { revision: BigInt(query.revision) }
}
