import { rawLeaves, rawMembersInSteps } from '../../../base/json/raw-values.ts'
import { readString } from '../../../base/json/read-string.ts'
import { type Steps, inSteps } from '../../../base/json/steps.ts'
import type { PartType } from '../../../contract/message.ts'

type Members = ReadonlyMap<string, string>

function* membersOf(json: string | undefined): Steps<Members> {
  const members = new Map<string, string>()
  for (const member of rawMembersInSteps(json ?? '')) {
    if (member) members.set(member.key, member.value)
    else yield
  }
  return members
}

/** The field of a part's content that has its text. */
const textMembers: Readonly<Record<PartType, string>> = {
  text: 'text',
  thinking: 'text',
  tool_call: 'toolName',
  tool_result: 'output',
  error: 'message',
}

/**
 * The texts of a part that people read, from its JSON text: of a call the name of its tool, and the texts and numbers of its
 * arguments. Yields undefined between steps, so that no step takes long for any part.
 */
export function* textsOf(json: string): Generator<string | undefined, void> {
  const part = yield* inSteps(membersOf(json), undefined)
  const type = JSON.parse(part.get('type') ?? 'null') as PartType
  const content = yield* inSteps(membersOf(part.get('content')), undefined)
  const text = content.get(textMembers[type])
  if (text !== undefined) yield yield* inSteps(readString(text), undefined)
  if (type !== 'tool_call') return
  for (const leaf of rawLeaves(content.get('args') ?? ''))
    yield leaf?.startsWith('"') ? yield* inSteps(readString(leaf), undefined) : leaf
}
