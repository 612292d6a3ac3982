import type { FoundTrace } from '../api/client.ts'
import type { Connection } from '../login/connect.ts'
import { hasStatus } from '../api/errors.ts'

export const visibilities = ['private', 'direct', 'public'] as const
export type Visibility = (typeof visibilities)[number]

/** What a trace shall be. `visibility` only when the user gave one. */
type Wanted = { readonly fields: Readonly<Record<string, string>>; readonly visibility?: Visibility | undefined }

/** The trace of this id in the connection's own namespace; an id alone may mean another one's. */
export const ownTrace = async (
  { api, namespaceId }: Connection,
  externalId: string,
): Promise<FoundTrace | undefined> => {
  try {
    const trace = await api.trace(externalId)
    return trace.namespace.id === namespaceId ? trace : undefined
  } catch (error) {
    if (hasStatus(error, 404)) return undefined
    throw error
  }
}

/**
 * Brings the trace that is there up to date; false when there is none. PATCH, because a PUT without `visibility` would make
 * private what its owner has published.
 */
export const updateTrace = async (connection: Connection, externalId: string, wanted: Wanted): Promise<boolean> => {
  const found = await ownTrace(connection, externalId)
  if (!found) return false
  const { fields, visibility } = wanted
  const change = visibility && visibility !== found.visibility ? { ...fields, visibility } : fields
  if (Object.keys(change).length > 0) await connection.api.patchTrace(externalId, change)
  return true
}

/** The id of a session whose own id somebody else holds. */
export const otherId = (sessionId: string, { namespaceSlug }: Connection): string => `${sessionId}@${namespaceSlug}`

const updateOrCreate = async (connection: Connection, externalId: string, wanted: Wanted): Promise<boolean> => {
  if (await updateTrace(connection, externalId, wanted)) return true
  try {
    const { fields, visibility = 'private' } = wanted
    await connection.api.putTrace(externalId, { ...fields, visibility })
    return true
  } catch (error) {
    if (hasStatus(error, 404)) return false
    throw error
  }
}

/**
 * Creates the trace of a session, or updates it; the id that it has then. When somebody else holds the session's own id (a
 * 404 on the upsert), the trace gets one made of it and the namespace's slug; undefined when that one is taken too.
 */
export const placeTrace = async (
  connection: Connection,
  sessionId: string,
  wanted: Wanted,
): Promise<string | undefined> => {
  for (const externalId of [sessionId, otherId(sessionId, connection)])
    if (await updateOrCreate(connection, externalId, wanted)) return externalId
  return undefined
}
