import type { Row } from '../../eventstore/engine/reads.ts'
import type { Revision } from '../../eventstore/log/log.ts'
import type { TimelineReads } from './timeline-reads.ts'

/** The changes of a trace's messages, by their revisions: twelve bytes for each. */
export type Updates = {
  /** How many changes there are. */
  readonly count: number
  /** About how many bytes of memory they take. */
  readonly bytes: number
  /** The revisions of a message's changes, ascending. */
  of(ordinal: number): Revision[]
  /** The ordinals of the changed messages, ascending. */
  ordinals(): number[]
  /** The ordinals of messages that a change has moved in the list, ascending. */
  moved(): number[]
}

type UpdatesRow = { revision: bigint; updates: string }

const CHUNK = 5_000

// After the revision $2, up to the revision $3.
const statement = `
  select revision, updates from entries
  where stream_id = $1 and updates is not null and revision > $2 and revision <= $3
  order by revision limit ${CHUNK}`

/** Three columns: for each change the ordinal of its message, its revision, and 1 if it has moved the message in the list. */
type Changes = { readonly ordinals: number[]; readonly revisions: number[]; readonly moves: (0 | 1)[] }

const newUpdates = ({ ordinals: all, revisions: unsorted, moves }: Changes): Updates => {
  const order = Uint32Array.from(all, (_, i) => i).sort((a, b) => all[a]! - all[b]! || unsorted[a]! - unsorted[b]!)
  const ordinals = Int32Array.from(order, (i) => all[i]!)
  const revisions = Float64Array.from(order, (i) => unsorted[i]!)
  const moved = [...new Set(order.filter((i) => moves[i] === 1).map((i) => all[i]!))]
  const first = (ordinal: number): number => {
    let [low, high] = [0, ordinals.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (ordinals[middle]! < ordinal) low = middle + 1
      else high = middle
    }
    return low
  }
  return {
    count: ordinals.length,
    bytes: 12 * ordinals.length + 8 * moved.length,
    of: (ordinal) => {
      const found: Revision[] = []
      for (let i = first(ordinal); ordinals[i] === ordinal; i++) found.push(BigInt(revisions[i]!))
      return found
    },
    ordinals: () => [...new Set(ordinals)],
    moved: () => moved,
  }
}

/** The changes of messages after one revision of their trace, up to another. */
export const updatesBetween = async (
  { timeline }: { readonly timeline: Pick<TimelineReads, 'rows'> },
  { id }: { readonly id: string },
  after: bigint,
  upTo: bigint,
): Promise<Updates> => {
  const changes: Changes = { ordinals: [], revisions: [], moves: [] }
  for (let reached = after; ;) {
    const rows = await timeline.rows<UpdatesRow & Row>('past-updates', statement, [id, reached, upTo])
    for (const { updates } of rows) {
      for (const [ordinal, revision, moved] of JSON.parse(updates) as [number, number, 0 | 1][]) {
        changes.ordinals.push(ordinal)
        changes.revisions.push(revision)
        changes.moves.push(moved)
      }
    }
    if (rows.length < CHUNK) return newUpdates(changes)
    reached = rows.at(-1)!.revision
  }
}
