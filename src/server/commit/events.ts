import { z } from 'zod'
import { formatsOf } from '../../eventstore/engine/codec.ts'
import { event } from '../../eventstore/engine/stream.ts'

const Lines = z.object({
  total: z.int(),
  weak: z.int(),
  replaced: z.int(),
  run: z.int(),
  moved: z.int(),
  unknown: z.int(),
})

/** A trace, as it was created at this time: one that was deleted and created again is another one. */
const TraceLines = z.object({ traceId: z.string(), createdAt: z.int(), replaced: z.int(), run: z.int() })
export type TraceLines = z.infer<typeof TraceLines>

const Recorded = z.object({
  namespaceId: z.string(),
  /** As `host/path`. */
  repository: z.string(),
  sha: z.string(),
  patchId: z.string().optional(),
  /** The author date. */
  at: z.int(),
  lines: Lines,
  traces: z.array(TraceLines),
})
export type Recorded = z.infer<typeof Recorded>

/**
 * Stream `commit-<id>`: what was known of the lines of a commit when somebody asked for it, as numbers: no line, path or name. Times are milliseconds. Who
 * recorded it is the actor of the event.
 */
export const CommitEvent = z.discriminatedUnion('type', [
  event('CommitRecorded', Recorded.shape),
  event('CommitRemoved', { namespaceId: z.string() }),
])
export type CommitEvent = z.infer<typeof CommitEvent>
export const commitFormats = formatsOf(CommitEvent)
