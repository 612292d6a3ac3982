import { commandName, shellWord } from '../../cli/command-name.ts'
import { errorMessage } from '../../cli/exit.ts'
import type { Session, SessionMessage } from '../agents/agent.ts'
import { newMessage } from '../agents/support/parts.ts'
import { digest } from '../digest.ts'
import { hashOf, type Redacted } from '../redaction/session.ts'
import { countOf } from '../report/text.ts'
import type { SessionState, SessionStates } from '../state/session-states.ts'
import { type EncodedMessage, encodeFields, encodeMessage } from './encode.ts'
import type { Destination } from './destination.ts'
import type { SessionRun } from './sync-session.ts'
import type { Upload } from './upload.ts'

/** The secrets of a session that were sent before they were known as such: the history of its trace keeps them. */
export type SentSecrets = {
  /** Compares a message with what was sent of it. */
  readonly compare: (message: SessionMessage, encoded: EncodedMessage) => void
  /** The hashes of those that were found, of the trace's fields as well. */
  readonly hashes: () => readonly string[]
}

/** What the client remembers of a session. */
type Sent = { readonly state: SessionState; readonly states: Pick<SessionStates, 'digests'> }

/** Only messages with very many parts and secrets have more: to compare all of these would take minutes. */
const MOST_FORMS = 500

const isSent = (sent: Uint8Array, message: SessionMessage): boolean =>
  // In a message that has grown the members may have another order than in a new one.
  [message, newMessage(message)].some((each) => Buffer.compare(sent, encodeMessage(each).digest) === 0)

export const newSentSecrets = (
  session: Session,
  { earlierMessages, earlierTraces }: Pick<Redacted, 'earlierMessages' | 'earlierTraces'>,
  { state, states }: Sent,
): SentSecrets => {
  const found = new Set<string>()
  const digestOf = states.digests(state)
  const add = (secrets: readonly string[]) => secrets.forEach((secret) => found.add(hashOf(secret)))

  const compare: SentSecrets['compare'] = (message, { externalId, digest }) => {
    const sent = digestOf(externalId)
    if (!sent || Buffer.compare(sent, digest) === 0) return
    for (const form of Iterator.from(earlierMessages(message)).take(MOST_FORMS))
      if (isSent(sent, form.value)) return add(form.unknown)
  }

  const compareFields = (): void => {
    const { fields: now } = encodeFields(session.trace)
    for (const form of earlierTraces())
      for (const [name, value] of encodeFields(form.value).fields)
        if (value !== now.get(name) && state.fields.get(name) === digest(value))
          add(form.unknown.filter((secret) => value.includes(secret)))
  }

  const hashes = () => {
    compareFields()
    return [...found]
  }
  return { compare, hashes }
}

const sentText = (hashes: readonly string[]): string => {
  const named = hashes.map((hash) => hash.slice(0, 12)).join(', ')
  const known = hashes.length === 1 ? 'it was known to be one' : 'they were known as such'
  return `${countOf(hashes.length, 'secret')} (${named}) had been sent before ${known}: `
}

const keptText = (hashes: readonly string[], externalId: string): string => {
  const them = hashes.length === 1 ? 'it' : 'them'
  return `the history of the trace keeps ${them}. "${commandName} rm --history ${shellWord(externalId)}" erases ${them}`
}

/** Erases the past of a trace. Returns why that was not possible; undefined if it was. */
const erasePast = async ({ connection }: Pick<Destination, 'connection'>, externalId: string) => {
  try {
    await connection.api.eraseHistory(externalId)
    return undefined
  } catch (error) {
    return errorMessage(error)
  }
}

type Reported = Pick<SessionRun, 'session' | 'counts' | 'report'>

/**
 * Erases the past of a trace that contains secrets which were taken out just now, and reports it. If the past cannot be erased, or not all of
 * the session has arrived, reports how the user can erase it. A dry run only reports what would be done.
 */
export const eraseSentSecrets = async (
  { session, counts, report }: Reported,
  { state: { externalId }, destination, sentSecrets }: Pick<Upload, 'state' | 'destination' | 'sentSecrets'>,
  { isComplete, dryRun }: { readonly isComplete: boolean; readonly dryRun: boolean },
): Promise<void> => {
  const hashes = sentSecrets?.hashes() ?? []
  if (hashes.length === 0) return
  const file = session.source
  const notice = (done: string) => report({ type: 'notice', file, externalId, message: `${sentText(hashes)}${done}` })
  if (dryRun) return notice('the past of the trace, which has it, would be erased')
  const why = isComplete ? await erasePast(destination, externalId) : 'not all of the session has arrived'
  if (why === undefined) return notice('it was taken out, and the past of the trace erased')
  counts.exposed++
  const message = `${sentText(hashes)}${keptText(hashes, externalId)} (${why})`
  report({ type: 'problem', kind: 'secret_in_history', file, externalId, message })
}
