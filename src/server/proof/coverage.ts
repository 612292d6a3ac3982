import type { Row } from '../../eventstore/engine/reads.ts'
import { type PresentTraceRow, firstRevision } from '../history/locate.ts'
import type { HistoryServices } from '../history/services.ts'
import { RETRY_AFTER } from './not-covered.ts'
import { servedCheckpoint } from './queries.ts'
import type { ProofServices } from './services.ts'
import type { SignedCheckpoint } from './signed-checkpoints.ts'

// The newest entries come first, so that only those are read which the tree does not cover.
const statement = `
  select revision from entries where stream_id = $1 and revision between $2 and $3 and position <= (
    select position from tracebook.leaves where index < $4 and lost is null order by index desc limit 1
  ) order by revision desc limit 1`

/** How far the newest checkpoint covers the events of a trace. */
export type Coverage =
  | { readonly is: 'unsigned' }
  | { readonly is: 'none'; readonly retryAfter: number }
  | {
      readonly is: 'covered'
      readonly checkpoint: SignedCheckpoint
      /** The revision of the last event that is covered; all before it are, too. */
      readonly through: bigint
      /** After how many seconds to ask again for later events; undefined if all are covered. */
      readonly retryAfter: number | undefined
    }

/** How far the newest checkpoint covers a trace of `traceWithTimeline`; `none` until it covers the event that the trace begins with. */
export const coverageOf = async (
  { checkpoints, reads, timeline }: ProofServices & Pick<HistoryServices, 'timeline'>,
  trace: PresentTraceRow,
): Promise<Coverage> => {
  if (!checkpoints.areServed) return { is: 'unsigned' }
  const none = { is: 'none', retryAfter: RETRY_AFTER } as const
  const checkpoint = await servedCheckpoint(reads)
  if (!checkpoint) return none
  const values = [trace.id, firstRevision(trace), trace.revision, checkpoint.size]
  const [row] = await timeline.rows<{ revision: bigint } & Row>('trace-coverage', statement, values)
  if (!row) return none
  const { revision: through } = row
  return { is: 'covered', checkpoint, through, retryAfter: through < trace.revision ? RETRY_AFTER : undefined }
}
