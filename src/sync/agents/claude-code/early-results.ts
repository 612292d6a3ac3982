import { isExternalId } from '../support/external-ids.ts'
import { newHashedMap } from '../support/hashed-map.ts'
import { isObject, type Json, textOf } from '../support/json.ts'
import { NeedsWhole } from '../support/line-parser.ts'
import type { ObjectLine } from '../support/lines.ts'
import { messageOf } from './blocks.ts'

/** So many results are remembered for a call that is still to come, the newest ones. */
const MAX_WAITING = 500

/** The results that still wait for their calls, by the calls' ids, as plain JSON. */
export type SavedResults = readonly (readonly [string, number])[]

/** What a first reading knows of the results of all its lines. */
export type EarlyResults = {
  /**
   * Notes the calls and results of a line. `answer` is the id of the answer that it belongs to. Throws NeedsWhole for the call of a
   * result that was read before what was saved.
   */
  readonly note: (line: ObjectLine, answer: string | undefined) => void
  /** The name of the tool of a call. */
  readonly nameOf: (callId: string) => string | undefined
  /** The order of a line's message: behind the answer that made the call, where the line stands before it. */
  readonly orderOf: (line: number) => number
  /** Those up to a line whose calls are in no line. */
  readonly save: (last: number) => SavedResults
}

/** Calls `found` for each block of one type with the id in it that names a call. */
const eachIn = (json: Json, type: string, key: string, found: (id: string, block: Json) => void): void => {
  const { content } = messageOf(json)
  if (!Array.isArray(content)) return
  for (const block of content as readonly unknown[])
    if (isObject(block) && block['type'] === type && isExternalId(block[key])) found(block[key], block)
}

/**
 * Results that stand before their calls, which some versions of the CLI write (README, rule 5). `isKnown` tells calls from before a
 * saved state.
 */
export const newEarlyResults = (
  saved: SavedResults | undefined,
  isKnown: (callId: string) => boolean,
): EarlyResults => {
  const names: string[] = []
  const numberOf = new Map<string, number>()
  const calls = newHashedMap()
  const answers = newHashedMap()
  const before = new Set(saved?.map(([id]) => id))
  const waiting = new Map<string, number>(saved)
  const behind = new Map<number, number>()

  const noteCall = (id: string, name: string, answerLine: number): void => {
    if (!numberOf.has(name)) numberOf.set(name, names.push(name) - 1)
    calls.add(id, numberOf.get(name)!)
    const line = waiting.get(id)
    if (line === undefined) return
    if (before.has(id)) throw new NeedsWhole()
    waiting.delete(id)
    if (line < answerLine) behind.set(line, Math.max(answerLine, behind.get(line) ?? 0))
  }
  const noteResult = (id: string, line: number): void => {
    if (calls.get(id) !== undefined || isKnown(id) || waiting.has(id)) return
    waiting.set(id, line)
    if (waiting.size > MAX_WAITING) waiting.delete(waiting.keys().next().value!)
  }

  return {
    note: ({ json, number }, answer) => {
      if (json['type'] === 'user') eachIn(json, 'tool_result', 'tool_use_id', (id) => noteResult(id, number))
      if (json['type'] !== 'assistant') return
      if (answer !== undefined) answers.add(answer, number)
      const first = answer === undefined ? number : answers.get(answer)!
      eachIn(json, 'tool_use', 'id', (id, block) => noteCall(id, textOf(block['name']) ?? 'unknown', first))
    },
    nameOf: (callId) => {
      const number = calls.get(callId)
      return number === undefined ? undefined : names[number]
    },
    orderOf: (line) => {
      const answer = behind.get(line)
      return answer === undefined ? line : answer + 0.5
    },
    save: (last) => [...waiting].filter(([id, line]) => line <= last || before.has(id)),
  }
}
