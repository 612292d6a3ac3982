import { UsageError } from '../../../cli/exit.ts'
import { hasStatus } from '../../../client/api/errors.ts'
import type { ProofsClient } from '../../../client/api/proofs.ts'
import type { ProvenEvent } from '../../../server/proof/evidence/assemble.ts'
import { tileIndexPath, tileWidth } from '../../../server/proof/tiles.ts'
import {
  HASH_BYTES,
  type HashRange,
  TILE_WIDTH,
  inclusionSpans,
  rangesOf,
  spanRoot,
} from '../../../server/proof/tree.ts'
import type { AuditClient } from '../audit-client.ts'
import { type Patience, isNotCovered } from './patience.ts'

/** The event of a deletion, without a proof yet. */
export type Deletion = { readonly traceId: string } & Pick<ProvenEvent, 'index' | 'entry'>

/** The events of deletions, once a checkpoint covers them. @throws UsageError for a trace that was not deleted, Error, RequestFailed */
export const readDeletions = async (
  { client, patience }: { readonly client: Pick<ProofsClient, 'ofDeletion'>; readonly patience: Patience },
  slug: string,
  traceIds: readonly string[],
): Promise<Deletion[]> => {
  const found: Deletion[] = []
  for (const traceId of new Set(traceIds)) {
    const { index, entry } = await patience.ask(() =>
      client.ofDeletion(slug, traceId).catch((error: unknown) => {
        if (hasStatus(error, 403))
          throw new Error(`Only admins of the namespace "${slug}" may prove what was deleted from it.`, {
            cause: error,
          })
        if (!hasStatus(error, 404) || isNotCovered(error)) throw error
        throw new UsageError(`No trace with the id ${traceId} was deleted from the namespace "${slug}".`, {
          cause: error,
        })
      }),
    )
    found.push({ traceId, index, entry })
  }
  return found
}

/** Reads hashes of the tree of a size from its tiles, each tile once. */
const newTiles = (client: Pick<AuditClient, 'bytes'>, size: number) => {
  const tiles = new Map<string, Promise<Buffer>>()
  return async ({ level, from, to }: HashRange): Promise<Buffer[]> => {
    const index = Math.floor(from / TILE_WIDTH)
    const width = tileWidth(level, index, size)
    const path = `/v1/audit/tile/${level}/${tileIndexPath(index)}${width < TILE_WIDTH ? `.p/${width}` : ''}`
    const tile = tiles.get(path) ?? client.bytes(path)
    tiles.set(path, tile)
    const bytes = await tile
    const first = from - index * TILE_WIDTH
    return Array.from({ length: to - from }, (_, i) =>
      bytes.subarray((first + i) * HASH_BYTES, (first + i + 1) * HASH_BYTES),
    )
  }
}

/** The inclusion proofs of deletions in the tree of a size that covers them: that of their route is for the newest tree. */
export const proveDeletions = async (
  client: Pick<AuditClient, 'bytes'>,
  deletions: readonly Deletion[],
  size: number,
): Promise<(ProvenEvent & { readonly traceId: string })[]> => {
  const read = newTiles(client, size)
  return Promise.all(
    deletions.map(async (deletion) => {
      const spans = inclusionSpans(deletion.index, size)
      const roots = await Promise.all(spans.map(async (span) => spanRoot(await Promise.all(rangesOf(span).map(read)))))
      return { ...deletion, proof: roots.map((root) => root.toString('base64')) }
    }),
  )
}
