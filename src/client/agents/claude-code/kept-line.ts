import { isExternalId } from '../support/external-ids.ts'
import { isObject, type Json } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { messageOf } from './content.ts'

/** The signature of a thinking block, which may be longer than its text, is not used. */
const keptBlock = (block: unknown): unknown =>
  isObject(block) && block['type'] === 'thinking' ? { type: 'thinking', thinking: block['thinking'] } : block

const keptMessage = (json: Json): Json => {
  const { id, model, usage, content } = messageOf(json)
  return { id, model, usage, content: Array.isArray(content) ? content.map(keptBlock) : content }
}

/** The text of the line before, where it is the same, so that it is in memory once. */
const shared = (name: string, json: Json, before: Json | undefined): unknown => {
  const earlier = before?.[name]
  return earlier === json[name] ? earlier : json[name]
}

/** The members that are used of a line of the user, the assistant or progress. They have one shape, which V8 reads faster. */
const keptMembers = (json: Json, before: Json | undefined): Json => ({
  type: json['type'],
  uuid: json['uuid'],
  isSidechain: json['isSidechain'],
  parentUuid: json['isSidechain'] === true ? json['parentUuid'] : undefined,
  sessionId: shared('sessionId', json, before),
  cwd: shared('cwd', json, before),
  gitBranch: shared('gitBranch', json, before),
  timestamp: json['timestamp'],
  isMeta: json['isMeta'],
  isCompactSummary: json['isCompactSummary'],
  isApiErrorMessage: json['isApiErrorMessage'],
  error: json['error'],
  message: json['type'] === 'progress' ? undefined : keptMessage(json),
})

const WITH_FEW_MEMBERS: readonly unknown[] = ['user', 'assistant', 'progress']

/** What a second reading uses of a line: a third of it. The text is used where the line has no id (README, rule 9). */
export const keepLine = (line: ObjectLine, before: ObjectLine | undefined): ObjectLine => {
  const { json, text, number, ended, path } = line
  const kept = {
    number,
    ended,
    text: isExternalId(json['uuid']) ? '' : text,
    json: WITH_FEW_MEMBERS.includes(json['type']) ? keptMembers(json, before?.json) : json,
  }
  return path === undefined ? kept : { ...kept, path }
}
