import type { Part, SessionMessage } from '../agents/agent.ts'
import type { AnswerOf } from '../api/requests.ts'

type StoredMessage = AnswerOf<'GET /v1/traces/{externalId}/messages'>['messages'][number]

/** A part without its place, which is that in its list; undefined for one without content. */
const partOf = ({ type, content }: NonNullable<StoredMessage['parts']>[number]): Part | undefined =>
  content === undefined ? undefined : ({ type, content } as Part)

/** A message of the service as one of a session. What was billed elsewhere is told only where the agent's own ids show it. */
const messageOf = (message: StoredMessage, isOwn: boolean): SessionMessage => {
  const { externalId, role, model, timestamp, usage, textContent, parts = [], order } = message
  const text: readonly Part[] = textContent === undefined ? [] : [{ type: 'text', content: { text: textContent } }]
  return {
    externalId,
    role,
    ...(model === undefined ? {} : { model }),
    order: order ?? 0,
    ...(timestamp === undefined ? {} : { timestamp }),
    ...(usage && isOwn ? { usage } : {}),
    parts: parts.length === 0 ? text : parts.flatMap((part) => partOf(part) ?? []),
  }
}

/** The results of some calls, which are taken from them, as are those whose ids later calls have: a result is that of the last call before it. */
const resultsIn = (message: SessionMessage, calls: Set<string>): readonly SessionMessage[] => {
  const parts = message.parts.filter(
    ({ type, content }) => 'callId' in content && calls.delete(content.callId) && type === 'tool_result',
  )
  return parts.length === 0 ? [] : [{ ...message, parts }]
}

/** The ids of the calls of a message that have no result in it. */
const callsIn = ({ parts }: SessionMessage): Set<string> => {
  const calls = new Set<string>()
  for (const { type, content } of parts) {
    if (type === 'tool_call') calls.add(content.callId)
    if (type === 'tool_result') calls.delete(content.callId)
  }
  return calls
}

/**
 * The messages of a session, up to that with the id `last` if it is given, and the results of its calls. `isOwn`: whether they are written for the
 * agent that has said them. @throws Error if the last one is not there
 */
export async function* sessionMessages(
  stored: AsyncIterable<StoredMessage>,
  { isOwn, last }: { readonly isOwn: boolean; readonly last?: string | undefined },
): AsyncGenerator<SessionMessage> {
  let open: Set<string> | undefined
  for await (const each of stored) {
    const message = messageOf(each, isOwn)
    if (open) yield* resultsIn(message, open)
    else yield message
    if (!open && each.externalId === last) open = callsIn(message)
    if (open?.size === 0) return
  }
  if (last !== undefined && !open) throw new Error(`The message "${last}" was removed meanwhile: nothing was written.`)
}
