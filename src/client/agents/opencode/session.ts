import type { SessionMessage, SessionFields } from '../agent.ts'
import { acceptedId, isExternalId } from '../support/external-ids.ts'
import { type Json, objectOf, textOf } from '../support/json.ts'
import type { OnUnknown } from '../support/session-of-messages.ts'
import { forkOf, type Outline, traceFieldsOf } from '../support/trace-fields.ts'
import { messageOf, type StoredMessage, unknownIn } from './messages.ts'

/** The row or file of a session, with the names of the files. */
export type SessionInfo = {
  readonly id: string
  readonly title: string | undefined
  readonly directory: string | undefined
  /** The folder of the repository whose worktree, or part, the directory is. */
  readonly repository: string | undefined
  readonly revert: Json | undefined
  /** The session that started this sub-agent's. */
  readonly parent: string | undefined
  /** The call there that started it. */
  readonly parentCall: string | undefined
  /** The session of which this one is a fork. */
  readonly origin: string | undefined
}

/** The id of the call in a stored part, if that has started a session (README, rule 10). */
export const callThatStarted = (session: string, part: Json): string | undefined => {
  const { type, callID, state: stored } = part
  const state = objectOf(stored)
  const names = objectOf(state['metadata'])['sessionId'] === session
  const says = String(state['output']).startsWith(`<task id="${session}"`)
  return type === 'tool' && isExternalId(callID) && (names || says) ? callID : undefined
}

/** The stored messages without those that `revert` takes back (README, rule 8). */
async function* withoutReverted(
  messages: AsyncIterable<StoredMessage>,
  revert: Json | undefined,
): AsyncGenerator<StoredMessage> {
  for await (const message of messages) {
    if (revert === undefined || message.id !== revert['messageID']) {
      yield message
      continue
    }
    if (typeof revert['partID'] !== 'string') return
    const end = message.parts.findIndex(({ id }) => id === revert['partID'])
    const { error: _, ...info } = message.info
    yield { ...message, info, parts: message.parts.slice(0, Math.max(0, end)) }
    return
  }
}

/** The messages of a session, in order. */
export async function* messagesOf(
  stored: AsyncIterable<StoredMessage>,
  { revert }: SessionInfo,
  onUnknown: OnUnknown,
): AsyncGenerator<SessionMessage> {
  for await (const one of withoutReverted(stored, revert)) {
    for (const kind of unknownIn(one)) onUnknown(kind)
    const message = messageOf(one)
    if (message) yield message
  }
}

const DEFAULT_TITLE = /^(?:New|Child) session - \d{4}-\d{2}-\d{2}T[\d:.]+Z(?: \(fork #\d+\))?$/

/** The fields of a session's trace (README, rules 10 and 11). */
export const traceOf = (
  agentId: string,
  { title, directory, repository, parent, parentCall, origin }: SessionInfo,
  outline: Outline,
): SessionFields => {
  const given = textOf(title)
  const fields = {
    title: given === undefined || DEFAULT_TITLE.test(given) ? outline.title() : given,
    projectPath: textOf(directory),
    model: outline.model(),
    ...(parent ? { parentExternalId: acceptedId(parent, 'session'), parentCallId: parentCall } : {}),
    ...(origin === undefined ? {} : forkOf(origin)),
  }
  return traceFieldsOf(agentId, fields, textOf(repository))
}
