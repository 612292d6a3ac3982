import type { TraceSummary } from '../api/client.ts'
import { hasStatus } from '../api/errors.ts'
import type { Connection } from '../login/connect.ts'

export const visibilities = ['private', 'direct', 'public'] as const
export type Visibility = (typeof visibilities)[number]

/** Who may read a trace, before and after; `before` is undefined for a new one. */
export type VisibilityChange = { readonly before?: Visibility | undefined; readonly after: Visibility }

/** The fields to set. `visibility` only when the user asked for one; `visibilityOfNew` is that of a new trace without. */
type TraceChange = {
  readonly fields: Readonly<Record<string, string>>
  readonly visibility?: Visibility | undefined
  readonly visibilityOfNew?: Visibility | undefined
  /** Is told of the trace's visibility once that is sure. */
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

/**
 * Updates an existing trace; false when there is none. Uses PATCH, because a PUT without `visibility` would make a public
 * trace private.
 */
export const updateTrace = async (
  connection: Connection,
  externalId: string,
  { fields, visibility, onVisibility }: TraceChange,
): Promise<boolean> => {
  const found = await findOwnTrace(connection, externalId)
  if (!found) return false
  const patch = visibility && visibility !== found.visibility ? { ...fields, visibility } : fields
  if (Object.keys(patch).length > 0) await connection.api.patchTrace(externalId, patch)
  onVisibility?.({ before: found.visibility, after: visibility ?? found.visibility })
  return true
}

/** The trace's id for a session whose own id another user has taken. */
export const fallbackId = (sessionId: string, { namespaceSlug }: Connection): string => `${sessionId}@${namespaceSlug}`

/** False when another user has taken the id: the service answers 404 then, as for all that one may not read. */
const updateOrCreate = async (connection: Connection, externalId: string, change: TraceChange): Promise<boolean> => {
  if (await updateTrace(connection, externalId, change)) return true
  try {
    const { fields, visibilityOfNew = 'private', visibility = visibilityOfNew } = change
    await connection.api.putTrace(externalId, { ...fields, visibility })
    change.onVisibility?.({ after: visibility })
    return true
  } catch (error) {
    if (hasStatus(error, 404)) return false
    throw error
  }
}

/**
 * Creates or updates the trace of a session, and returns its externalId: the session's id, or `fallbackId` when another user
 * has taken that one. Undefined when both are taken.
 */
export const upsertTrace = async (
  connection: Connection,
  sessionId: string,
  change: TraceChange,
): Promise<string | undefined> => {
  for (const externalId of [sessionId, fallbackId(sessionId, connection)])
    if (await updateOrCreate(connection, externalId, change)) return externalId
  return undefined
}
