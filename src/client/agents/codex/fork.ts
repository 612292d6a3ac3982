import { isExternalId } from '../support/external-ids.ts'
import { isObject, type Json, millisecondsOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { payloadOf } from './messages.ts'

const uuidV7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** When a UUID of version 7 was made, in milliseconds. */
const timeOfUuid = (id: unknown): number | undefined => {
  const [, high, low] = uuidV7.exec(String(id)) ?? []
  return high === undefined ? undefined : parseInt(`${high}${low}`, 16)
}

/** Whether a session may have been made by another one: that is older, as ids of version 7, which sort by their time, tell (README, rule 1). */
export const mayBeFrom = (id: unknown, parent: string): boolean =>
  uuidV7.test(String(id)) && uuidV7.test(parent) ? parent < String(id) : parent !== id

/** Returns a function that says whether a turn of a fork is copied from its origin: it began before the fork was made (README, rule 9). */
const newCopyCheck = (fork: Json) => {
  const made = timeOfUuid(fork['id']) ?? millisecondsOf(fork['timestamp'])
  return (turnId: unknown): boolean => {
    const began = timeOfUuid(turnId)
    return began !== undefined && made !== undefined && began < made
  }
}

/** Whether a line may come before the `turn_context` of its turn, as the prompt and what belongs to it do. */
const opensTurn = (json: Json): boolean => {
  const { type, role } = payloadOf(json)
  if (json['type'] === 'response_item') return role === 'user' || role === 'developer'
  return json['type'] === 'world_state' || type === 'user_message' || type === 'task_started'
}

/** The first line of the session's own; Infinity if there is none yet. `isFinal` is false if later lines may change it. */
export type OwnStart = { readonly line: number; readonly isFinal: boolean }

/** The first own line after the copied head of a fork. */
const endOfHead = async (
  lines: AsyncIterable<ObjectLine>,
  isCopied: (turnId: unknown) => boolean,
): Promise<OwnStart> => {
  let opening: number | undefined
  let turns = 0
  let named = 0
  for await (const { json, number, ended } of lines) {
    if (json['type'] !== 'turn_context') {
      opening = opensTurn(json) ? (opening ?? number) : undefined
      continue
    }
    const { turn_id: turnId } = payloadOf(json)
    turns++
    if (typeof turnId === 'string') named++
    if (typeof turnId === 'string' && !isCopied(turnId)) return { line: opening ?? number, isFinal: ended }
    opening = undefined
  }
  // Old versions gave turns no ids. Then nothing distinguishes copied turns from the others, and all are kept.
  return { line: turns > 0 && named === 0 ? 0 : Infinity, isFinal: false }
}

/**
 * The line at which the session's own lines begin: 0, except in a fork that begins with a copy of its origin's. Since version 0.171 a user's fork only
 * names what it is based on.
 */
export const ownStartOf = async (lines: () => AsyncIterable<ObjectLine>): Promise<OwnStart> => {
  for await (const { json, ended } of lines()) {
    if (json['type'] !== 'session_meta') continue
    const meta = payloadOf(json)
    if (!isExternalId(meta['forked_from_id']) || isObject(meta['history_base'])) return { line: 0, isFinal: ended }
    return endOfHead(lines(), newCopyCheck(meta))
  }
  return { line: 0, isFinal: false }
}
