import type { AnyEvent } from '../events.ts'
import type { DecodedEvent } from '../engine/projection.ts'

/** Which sessions and users have changed lately, and where in the log: what was read before is stale. */
export type Overruled = {
  /** The id of the session or user whose callers an event changes; undefined when it changes none. */
  note(event: DecodedEvent): string | undefined
  /** Whether a snapshot at `position` is older than the last change of one of these. */
  isOlder(position: bigint, ids: readonly string[]): boolean
}

const REMEMBERED = 2_000

type EventType = AnyEvent['type']

/** Events of a session's stream, or of a user's. */
const OF_THEIR_STREAM: ReadonlySet<string> = new Set<EventType>([
  'SessionSwitched',
  'SessionRevoked',
  'IdentityRemoved',
])
const OF_MEMBERS: ReadonlySet<string> = new Set<EventType>(['MemberJoined', 'MemberRoleChanged', 'MemberRemoved'])

const touchedBy = (event: DecodedEvent): string | undefined => {
  if (OF_THEIR_STREAM.has(event.type)) return event.streamId
  return OF_MEMBERS.has(event.type) ? (event.data as { userId: string }).userId : undefined
}

/** Remembers the newest changes; of a snapshot older than what is forgotten nothing is known, so it counts as stale. */
export const newOverruled = (keep = REMEMBERED): Overruled => {
  const positions = new Map<string, bigint>()
  let forgotten = -1n

  const note = (event: DecodedEvent) => {
    const id = touchedBy(event)
    if (id === undefined) return undefined
    positions.delete(id)
    positions.set(id, event.position)
    if (positions.size > keep) {
      const [oldest, position] = positions.entries().next().value!
      positions.delete(oldest)
      forgotten = position
    }
    return id
  }

  const isOlder = (position: bigint, ids: readonly string[]) =>
    position < forgotten || ids.some((id) => (positions.get(id) ?? -1n) > position)

  return { note, isOlder }
}
