import { z } from 'zod'
import { ofSegment } from '../../base/path-segments.ts'
import { Key } from '../../contract/parameters.ts'

/** An id that a client has chosen, as a segment of the address of a page. */
export const PathSegment = Key.transform(ofSegment)

/** The trace that the address of a page names. */
export const TraceParams = z.object({ slug: Key, externalId: PathSegment })
export type TraceParams = z.infer<typeof TraceParams>
