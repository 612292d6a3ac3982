import type { SyncState } from '../state/sync-state.ts'
import { isReadOtherwise } from './read-session.ts'
import type { Found } from './sync-sessions.ts'

/**
 * The same sessions, but those at the end of which an earlier run has read all that they have, by another version of their agent's parser: after an
 * update all sessions are read again, and nobody waits for that who has something new.
 */
export async function* newContentFirst(
  origins: Pick<SyncState, 'originOf'>,
  sessions: AsyncIterable<Found>,
): AsyncGenerator<Found> {
  const later: Found[] = []
  for await (const found of sessions) {
    const isLater = !('error' in found) && isReadOtherwise(found, origins.originOf(found.stored.source)?.stamp)
    if (isLater) later.push(found)
    else yield found
  }
  yield* later
}
