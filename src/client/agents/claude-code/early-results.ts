import { isExternalId } from '../support/external-ids.ts'
import { newHashedMap } from '../support/hashed-map.ts'
import { isObject, type Json, textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import type { References } from '../support/references.ts'
import { messageOf } from './content.ts'

/** How many results are remembered whose call has not been read yet. The oldest is forgotten first. */
const MAX_WAITING = 500

/** The calls and results of all lines, as collected in a first reading. */
export type EarlyResults = {
  /** Notes the calls and results of a line. `answer` is the id of the answer that the line belongs to. */
  readonly note: (line: ObjectLine, answer: string | undefined) => void
  /** The name of the tool that a call names. */
  readonly nameOf: (callId: string) => string | undefined
  /** The `order` of a line's message. A line with a result that comes before its call gets a place after the answer with that call. */
  readonly orderOf: (line: number) => number
}

/** The line of a call, and the first line of its answer. */
type CallLines = { readonly call: number; readonly answer: number }

/** Calls `found` for each block of one type, with the id of its call. */
const eachIn = (json: Json, type: string, key: string, found: (id: string, block: Json) => void): void => {
  const { content } = messageOf(json)
  if (!Array.isArray(content)) return
  for (const block of content as readonly unknown[])
    if (isObject(block) && block['type'] === type && isExternalId(block[key])) found(block[key], block)
}

/** Results that come before their calls, as some versions of the CLI write them (README, rule 5). Such calls are noted in `references`. */
export const newEarlyResults = (references: References): EarlyResults => {
  const names: string[] = []
  const numberOf = new Map<string, number>()
  /** The number of the tool's name by the call's id. */
  const calls = newHashedMap()
  /** The first line of each answer. */
  const answers = newHashedMap()
  /** The line of each result that waits for its call. */
  const waiting = new Map<string, number>()
  /** The line of the answer that comes before a line with a result. */
  const after = new Map<number, number>()

  const noteCall = (id: string, name: string, { call, answer: answerLine }: CallLines): void => {
    if (!numberOf.has(name)) numberOf.set(name, names.push(name) - 1)
    calls.add(id, numberOf.get(name)!)
    const line = waiting.get(id)
    if (line === undefined) return
    references.add(call, line)
    waiting.delete(id)
    if (line < answerLine) after.set(line, Math.max(answerLine, after.get(line) ?? 0))
  }
  const noteResult = (id: string, line: number): void => {
    if (calls.get(id) !== undefined || waiting.has(id)) return
    waiting.set(id, line)
    if (waiting.size > MAX_WAITING) waiting.delete(waiting.keys().next().value!)
  }

  return {
    note: ({ json, number }, answer) => {
      if (json['type'] === 'user') eachIn(json, 'tool_result', 'tool_use_id', (id) => noteResult(id, number))
      if (json['type'] !== 'assistant') return
      if (answer !== undefined) answers.add(answer, number)
      const first = answer === undefined ? number : answers.get(answer)!
      eachIn(json, 'tool_use', 'id', (id, block) =>
        noteCall(id, textOf(block['name']) ?? 'unknown', { call: number, answer: first }),
      )
    },
    nameOf: (callId) => {
      const number = calls.get(callId)
      return number === undefined ? undefined : names[number]
    },
    orderOf: (line) => {
      const answer = after.get(line)
      return answer === undefined ? line : answer + 0.5
    },
  }
}
