import type pg from 'pg'
import { erasedBefore } from './missing-counts.ts'
import type { Report } from './findings.ts'
import type { EventSource, HashedEvent } from './hashed-event.ts'
import { type StoredLeaf, findLeaves, readLeavesOfStreams } from './leaf-rows.ts'

const STREAMS_AT_ONCE = 500

/** The events of a stream that the log has now. */
type Present = {
  readonly byId: ReadonlyMap<string, HashedEvent>
  /** The leaf of the stream's last deletion or erasure of the past, -1 for none, and the revision before which that explains everything. */
  readonly erasedAt: number
  readonly before: bigint
}

/** The present events of a stream. It also uses leaves that were written since the verification began. */
const presentOf = async (client: pg.Client, events: EventSource, stream: string): Promise<Present> => {
  const byId = new Map<string, HashedEvent>()
  let erasedAt = -1
  let erased = 0n
  for await (const batch of events.ofStream(stream))
    for (const event of batch) {
      const { id, hash } = event
      byId.set(id, event)
      const before = erasedBefore(event)
      if (before === undefined) continue
      const leaf = (await findLeaves(client, id, Number.MAX_SAFE_INTEGER)).findLast(({ lost }) => lost === undefined)
      if (!leaf?.hash.equals(hash)) continue
      erasedAt = leaf.index
      erased = before
    }
  return { byId, erasedAt, before: erased }
}

type MissingOptions = {
  readonly streams: readonly string[]
  readonly size: number
  /** The position up to which the log has been read. */
  readonly covered: bigint
  readonly report: Report
}

/**
 * Reports the events of these streams that have leaves but are not in the log, unless a later deletion explains it, and the events that are
 * at a position that was not read. All other leaves of these streams belong to events that were erased meanwhile.
 */
export const reportMissing = async (
  client: pg.Client,
  events: EventSource,
  { streams, size, covered, report }: MissingOptions,
): Promise<void> => {
  const check = (leaf: StoredLeaf, { byId, erasedAt, before }: Present) => {
    const { stream, revision, id, index, position } = leaf
    const event = byId.get(id)
    const found = { stream, revision, id, leaf: index }
    if (event === undefined && (index > erasedAt || revision >= before))
      report({ kind: 'removed', ...found, detail: `it has leaf ${index}, but is not in the log, and was not erased` })
    if (event && event.position > covered)
      report({
        kind: 'moved',
        ...found,
        detail: `it is at position ${event.position}; leaf ${index} says position ${position}`,
      })
  }
  for (let i = 0; i < streams.length; i += STREAMS_AT_ONCE) {
    const chosen = streams.slice(i, i + STREAMS_AT_ONCE)
    const leaves: StoredLeaf[] = (await Array.fromAsync(readLeavesOfStreams(client, chosen, size))).flat()
    for (const [stream, ofStream] of Map.groupBy(leaves, ({ stream }) => stream)) {
      const present = await presentOf(client, events, stream)
      for (const leaf of ofStream) if (leaf.lost === undefined) check(leaf, present)
    }
  }
}
