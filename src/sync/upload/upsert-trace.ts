import type { Visibility } from '../../contract/trace.ts'
import type { TraceSummary } from '../api/client.ts'
import { hasStatus } from '../api/errors.ts'
import type { Connection } from '../login/connect.ts'
import { isUnredacted } from './within.ts'

/** All values, without the schema of the contract, which help would have to load. */
export const visibilities = ['private', 'direct', 'public'] as const satisfies readonly Visibility[]
export type { Visibility }

/** Who may read a trace, before and after; `before` is undefined for a new one. */
export type VisibilityChange = { readonly before?: Visibility | undefined; readonly after: Visibility }

/** The fields to set. `visibility` is set only if the user asked for one; otherwise a new trace gets `visibilityOfNew`. */
type TraceChange = {
  readonly fields: Readonly<Record<string, string>>
  readonly visibility?: Visibility | undefined
  readonly visibilityOfNew?: Visibility | undefined
  /** Whether fields that a trace has already stay as they are. */
  readonly keepsFields?: boolean
  /** Whether a deleted trace stays deleted. */
  readonly unlessDeleted?: boolean
  /** Called with the visibility of the trace once it is known. */
  readonly onVisibility?: (change: VisibilityChange) => void
}

/** The trace with this id, if it belongs to the connection's namespace: the API also finds public traces of others. */
export const findOwnTrace = async (
  { api, namespaceId }: Connection,
  externalId: string,
): Promise<TraceSummary | undefined> => {
  try {
    const trace = await api.trace(externalId)
    return trace.namespace.id === namespaceId ? trace : undefined
  } catch (error) {
    if (hasStatus(error, 404)) return undefined
    throw error
  }
}

/** The fields of an existing trace that a change sets. */
export const patchOf = ({ fields, visibility, keepsFields }: TraceChange, found: TraceSummary) => {
  /** Whether a field keeps its value. A field from which a secret is taken out now does not. */
  const stays = ([name, value]: readonly [string, string]) => {
    const stored = found[name as keyof TraceSummary]
    return keepsFields && stored !== undefined && (stored === value || !isUnredacted(String(stored), value))
  }
  const set = Object.entries(fields).filter((field) => !stays(field))
  return { ...Object.fromEntries(set), ...(visibility && visibility !== found.visibility ? { visibility } : {}) }
}

/** The result of an upsert; `deleted`: the trace was deleted, and is not created again. */
export type Upserted = 'created' | 'updated' | 'unchanged' | 'deleted'

/**
 * Updates an existing trace; undefined when there is none. Uses PATCH, because a PUT without `visibility` would make a public
 * trace private.
 */
export const updateTrace = async (
  connection: Connection,
  externalId: string,
  change: TraceChange,
): Promise<'updated' | 'unchanged' | undefined> => {
  const found = await findOwnTrace(connection, externalId)
  if (!found) return undefined
  const patch = patchOf(change, found)
  const isChanged = Object.keys(patch).length > 0
  if (isChanged) await connection.api.patchTrace(externalId, patch)
  change.onVisibility?.({ before: found.visibility, after: change.visibility ?? found.visibility })
  return isChanged ? 'updated' : 'unchanged'
}

/** The trace's id for a session whose own id another user has taken. */
export const fallbackId = (sessionId: string, { namespaceSlug }: Connection): string => `${sessionId}@${namespaceSlug}`

/** Undefined when another user has taken the id: the service answers 404 then, as for all that one may not read. */
const updateOrCreate = async (
  connection: Connection,
  externalId: string,
  change: TraceChange,
): Promise<Upserted | undefined> => {
  const updated = await updateTrace(connection, externalId, change)
  if (updated) return updated
  try {
    const { fields, visibilityOfNew = 'private', visibility = visibilityOfNew, unlessDeleted } = change
    await connection.api.putTrace(externalId, { ...fields, visibility }, unlessDeleted)
    change.onVisibility?.({ after: visibility })
    return 'created'
  } catch (error) {
    if (hasStatus(error, 404)) return undefined
    if (hasStatus(error, 410)) return 'deleted'
    throw error
  }
}

/**
 * Creates or updates the trace of a session, and returns what became of it, with its externalId: the session's id, or `fallbackId` when another user
 * has taken that one. Undefined when both are taken.
 */
export const upsertTrace = async (
  connection: Connection,
  sessionId: string,
  change: TraceChange,
): Promise<{ readonly externalId: string; readonly upserted: Upserted } | undefined> => {
  for (const externalId of [sessionId, fallbackId(sessionId, connection)]) {
    const upserted = await updateOrCreate(connection, externalId, change)
    if (upserted) return { externalId, upserted }
  }
  return undefined
}
