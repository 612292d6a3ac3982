import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import type { ReadTables } from '../../tables/main.ts'
import { traceId } from '../../base/ids.ts'
import type { Caller } from '../http/caller.ts'
import { HttpError, Moved, notFound } from '../http/http-error.ts'
import { idOfSlug } from '../namespace/queries.ts'
import type { Earlier } from './earlier-deletions.ts'
import { mayRead } from './policy.ts'
import { type ResolvedRow, resolveStatement, slugOf, userRoleOf, resolvedOf } from './queries.ts'

/** How a request names a trace: `TraceName` of `locate.ts`. */
type Named = { readonly externalId: string; readonly namespace?: string | undefined }

const tombstoneStatement = 'select deletions from trace_tombstones where id = $1'

/** Where the last trace with this id was moved to. */
const movedTo = async (reads: Pick<Reads<ReadTables>, 'rows'>, id: string) => {
  const [row] = await reads.rows<{ deletions: string } & Row>('trace-tombstone', tombstoneStatement, [id])
  return row && (JSON.parse(row.deletions) as Earlier).newest.at(-1)?.movedTo
}

/** A trace that was moved on and on is followed so many times. */
const MOST_MOVES = 8

/**
 * The error for a trace that a namespace does not have: `Moved` if it was moved to where the caller may read it, otherwise not found, as for one that never was.
 */
export const missingTrace = async (
  reads: Reads<ReadTables>,
  { externalId, namespace }: Named,
  caller: Caller | undefined,
): Promise<HttpError> => {
  if (namespace === undefined) return notFound()
  let id = traceId(idOfSlug(namespace), externalId)
  for (let moves = 0; moves < MOST_MOVES; moves += 1) {
    const place = await movedTo(reads, id)
    if (!place) break
    id = traceId(place.namespaceId, externalId)
    const values = [id, caller?.userId ?? null, null, null]
    const [row] = await reads.rows<ResolvedRow & Row>('trace-resolve', resolveStatement, values)
    const hit = row && resolvedOf(reads, row)
    if (hit && mayRead(hit, userRoleOf(caller, hit))) return new Moved(await slugOf(reads, hit.namespaceId))
    if (hit) break
  }
  return notFound()
}

/** The result of a read that finds the trace itself; instead of a 404 for one that does not exist it throws the error of `missingTrace`. */
export const orMoved = async <T>(
  reads: Reads<ReadTables>,
  name: Named,
  caller: Caller | undefined,
  read: Promise<T>,
): Promise<T> => {
  try {
    return await read
  } catch (error) {
    throw error instanceof HttpError && error.code === 'not_found' ? await missingTrace(reads, name, caller) : error
  }
}
