import { stat } from 'node:fs/promises'
import { isExternalId } from '../support/external-ids.ts'
import { type Json, millisecondsOf } from '../support/json.ts'
import { type ObjectLine, objectLines } from '../support/lines.ts'
import { findSession } from './files.ts'
import { isRolloutLine, payloadOf } from './messages.ts'

const uuidV7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** When a UUID of version 7 was made, in milliseconds. */
const timeOfUuid = (id: unknown): number | undefined => {
  const [, high, low] = uuidV7.exec(String(id)) ?? []
  return high === undefined ? undefined : parseInt(`${high}${low}`, 16)
}

/** The ids of all turns in the file of a session; empty if there is no such file. */
const turnsOf = async (path: string | undefined): Promise<ReadonlySet<unknown>> => {
  const turns = new Set<unknown>()
  const found = path === undefined ? undefined : await stat(path).catch(() => undefined)
  if (path === undefined || found === undefined) return turns
  for await (const { json } of objectLines(path, found.size, isRolloutLine))
    if (json['type'] === 'turn_context') turns.add(payloadOf(json)['turn_id'])
  return turns
}

/** Returns a function that says whether a turn of a fork is copied from the parent (README, rule 9). */
const newReplayCheck = (path: string, fork: Json, parentId: string) => {
  const made = timeOfUuid(fork['id']) ?? millisecondsOf(fork['timestamp'])
  let parentTurns: Promise<ReadonlySet<unknown>> | undefined
  return async (turnId: unknown): Promise<boolean> => {
    const began = timeOfUuid(turnId)
    if (began !== undefined && made !== undefined) return began < made
    parentTurns ??= findSession(parentId, path).then(turnsOf)
    return (await parentTurns).has(turnId)
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
  isReplayed: (turnId: unknown) => Promise<boolean>,
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
    if (typeof turnId === 'string' && !(await isReplayed(turnId))) return { line: opening ?? number, isFinal: ended }
    opening = undefined
  }
  // Old versions gave turns no ids. Then nothing distinguishes copied turns from the others, and all are kept.
  return { line: turns > 0 && named === 0 ? 0 : Infinity, isFinal: false }
}

/** The line at which the session's own lines begin: 0, except in a fork, which begins with a copy of its parent. */
export const ownStartOf = async (path: string, size: number): Promise<OwnStart> => {
  for await (const { json, ended } of objectLines(path, size, isRolloutLine)) {
    if (json['type'] !== 'session_meta') continue
    const meta = payloadOf(json)
    const { forked_from_id: parentId } = meta
    if (!isExternalId(parentId)) return { line: 0, isFinal: ended }
    return endOfHead(objectLines(path, size, isRolloutLine), newReplayCheck(path, meta, parentId))
  }
  return { line: 0, isFinal: false }
}
