import type { AnyEvent } from '../events.ts'
import type { Happened } from '../engine/projection.ts'

/** The log positions of the latest changes to the rights of sessions and users. What was read before them is stale. */
export type Overruled = {
  /** Remembers a change. Returns the id of the session or user whose callers the event changes; undefined for other events. */
  note(event: Happened): string | undefined
  /** Whether one of these sessions and users has changed after `position`. */
  isOlder(position: bigint, ids: readonly string[]): boolean
}

const REMEMBERED = 2_000

type EventType = AnyEvent['type']

/** Events in the stream of a session or a user that change the rights of that session or user. */
const OF_THEIR_STREAM: ReadonlySet<string> = new Set<EventType>([
  'SessionSwitched',
  'SessionRevoked',
  'IdentityRemoved',
])
const OF_MEMBERS: ReadonlySet<string> = new Set<EventType>(['MemberJoined', 'MemberRoleChanged', 'MemberRemoved'])

const touchedBy = (event: Happened): string | undefined => {
  if (OF_THEIR_STREAM.has(event.type)) return event.of
  return OF_MEMBERS.has(event.type) ? (event.data as { userId: string }).userId : undefined
}

/** Remembers the latest `keep` changes. A position before one that was dropped counts as older, to be safe. */
export const newOverruled = (keep = REMEMBERED): Overruled => {
  const positions = new Map<string, bigint>()
  let forgotten = -1n

  const note = (event: Happened) => {
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
