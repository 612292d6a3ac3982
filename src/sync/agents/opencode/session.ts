import type { Session, SessionMessage, TraceFields } from '../agent.ts'
import { acceptedId } from '../support/external-ids.ts'
import { textOf } from '../support/json.ts'
import { newOutline } from '../support/outline.ts'
import { countSkipped } from '../support/skipped-lines.ts'
import { traceFieldsOf } from '../support/trace-fields.ts'
import { messageOf, withoutReverted } from './messages.ts'
import type { OnDamaged, SessionInfo, StoredMessage } from './stored.ts'

const DEFAULT_TITLE = /^(?:New|Child) session - \d{4}-\d{2}-\d{2}T[\d:.]+Z$/

/** The messages of a session in order: for a first reading, and again each time they are asked for. */
type Messages = {
  readonly first: (onDamaged: OnDamaged) => AsyncIterable<StoredMessage>
  readonly again: () => AsyncIterable<StoredMessage>
}

async function* messagesOf(
  stored: AsyncIterable<StoredMessage>,
  { revert }: SessionInfo,
): AsyncGenerator<SessionMessage> {
  for await (const one of withoutReverted(stored, revert)) {
    const message = messageOf(one)
    if (message) yield message
  }
}

const traceOf = async (
  agentId: string,
  { title, directory, parent }: SessionInfo,
  messages: AsyncIterable<SessionMessage>,
): Promise<TraceFields> => {
  const outline = newOutline()
  for await (const message of messages) outline.note(message)
  const given = textOf(title)
  return traceFieldsOf(agentId, {
    title: given === undefined || DEFAULT_TITLE.test(given) ? outline.title() : given,
    projectPath: textOf(directory),
    model: outline.model(),
    parentExternalId: parent ? acceptedId(parent, 'session') : undefined,
  })
}

/** A session as the client takes it (README, rules 8 to 11). */
export const sessionOf = async (
  agentId: string,
  info: SessionInfo,
  { first, again }: Messages,
  onMalformed: (line: number) => void,
): Promise<Session> => {
  const skipped = countSkipped(onMalformed)
  const trace = await traceOf(agentId, info, messagesOf(first(skipped.onMalformed), info))
  return {
    externalId: acceptedId(info.id, 'session'),
    trace,
    skippedLines: skipped.lines,
    messages: () => messagesOf(again(), info),
  }
}
