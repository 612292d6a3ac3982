import { digest } from '../../digest.ts'
import { isExternalId } from '../support/external-ids.ts'
import { newHashedMap } from '../support/hashed-map.ts'
import { isObject, type Json, objectOf, textOf } from '../support/json.ts'
import { blocksOf } from '../support/parts.ts'
import { messageOf, textOfBlocks } from './content.ts'

/** A sub-agent whose lines are within the file of its session: the id of the first of them, and of the call that started it (README, rule 2). */
export type Inline = { readonly id: string; readonly callId: string }

/** Which lines of a file are those of the session that is read (README, rule 2). Each line is noted after it was asked about. */
export type Scope = {
  readonly has: (json: Json) => boolean
  /** Whether another session has the line, which is read by itself. */
  readonly isOfAnother: (json: Json) => boolean
  readonly note: (json: Json) => void
  readonly inlines: () => readonly Inline[]
}

const none = (): readonly Inline[] => []

/** All lines of a file that holds one sub-agent. */
export const wholeFile: Scope = { has: () => true, isOfAnother: () => false, note: () => {}, inlines: none }

/** The lines of which each follows another one of the sub-agent that begins with the line `id`. */
export const inlineScope = (id: string): Scope => {
  const members = newHashedMap()
  const has = ({ isSidechain, uuid, parentUuid }: Json): boolean =>
    isSidechain === true && (uuid === id || (typeof parentUuid === 'string' && members.get(parentUuid) !== undefined))
  return {
    has,
    isOfAnother: (json) => !has(json),
    note: (json) => {
      if (typeof json['uuid'] === 'string' && has(json)) members.add(json['uuid'])
    },
    inlines: none,
  }
}

/** What a line says, as the key of a task. */
const keyOf = (json: Json): string => digest(textOfBlocks(blocksOf(messageOf(json)['content'])) ?? '')

/** The calls for which no sub-agent was found yet, by a digest of the task. */
const newTasks = () => {
  const calls = new Map<string, string[]>()
  return {
    note: (json: Json): void => {
      if (json['type'] !== 'assistant') return
      const { content } = messageOf(json)
      if (!Array.isArray(content)) return
      for (const block of content) {
        if (!isObject(block) || block['type'] !== 'tool_use' || block['name'] !== 'Task') continue
        const task = textOf(objectOf(block['input'])['prompt'])
        if (task === undefined || !isExternalId(block['id'])) continue
        calls.set(digest(task), [...(calls.get(digest(task)) ?? []), block['id']])
      }
    },
    /** The first call for the task that a line states. */
    callFor: (json: Json): string | undefined => calls.get(keyOf(json))?.[0],
    take: (json: Json): void => void calls.get(keyOf(json))?.shift(),
  }
}

/** The lines of a session without those of the sub-agents within its file, which a first reading has found. */
export const withoutInlines: Scope = {
  has: ({ isSidechain }) => isSidechain !== true,
  isOfAnother: () => false,
  note: () => {},
  inlines: none,
}

/** The same in a first reading, which finds these sub-agents. */
export const sessionScope = (): Scope => {
  const tasks = newTasks()
  const members = newHashedMap()
  const found: Inline[] = []
  const callOf = (json: Json): string | undefined =>
    json['parentUuid'] === null && json['type'] === 'user' ? tasks.callFor(json) : undefined
  const isOfAnother = (json: Json): boolean => {
    const { isSidechain, parentUuid } = json
    if (isSidechain !== true) return false
    return typeof parentUuid === 'string' ? members.get(parentUuid) !== undefined : callOf(json) !== undefined
  }
  return {
    has: withoutInlines.has,
    isOfAnother,
    note: (json) => {
      const { uuid, isSidechain } = json
      if (isSidechain !== true) return tasks.note(json)
      if (!isExternalId(uuid) || !isOfAnother(json)) return
      members.add(uuid)
      const callId = callOf(json)
      if (callId === undefined) return
      tasks.take(json)
      found.push({ id: uuid, callId })
    },
    inlines: () => found,
  }
}
