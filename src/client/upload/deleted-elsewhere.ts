import { hasStatus } from '../api/errors.ts'
import type { SessionKey } from '../state/session-states.ts'
import type { Destination } from './destination.ts'

const named = (slug: string): string => `the namespace ${slug}`
const LEFT = 'a namespace that you have left'

/**
 * Another namespace to which a session was sent, and from which its trace was deleted: then the user does not want the service to have it. Undefined if there
 * is none. Asks the service only about a session that this machine has sent to another namespace. Throws RequestFailed.
 */
export const deletedElsewhere = async (
  { connection: { api }, states }: Destination,
  session: SessionKey,
): Promise<string | undefined> => {
  const elsewhere = states.elsewhere(session)
  if (elsewhere.length === 0) return undefined
  const slugs = new Map((await api.namespaces()).map(({ id, slug }) => [id, slug]))
  for (const { namespaceId, status, externalId } of elsewhere) {
    const slug = slugs.get(namespaceId)
    if (status === 'deleted') return slug === undefined ? LEFT : named(slug)
    // Whether a namespace has deleted something is told to its members only.
    if (status !== 'stored' || slug === undefined) continue
    try {
      await api.trace(externalId, slug)
    } catch (error) {
      if (hasStatus(error, 404)) return named(slug)
      if (!hasStatus(error, 308)) throw error
    }
  }
  return undefined
}
