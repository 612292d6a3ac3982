import { commandName, shellWord } from '../../cli/command-name.ts'
import type { Session, SessionMessage } from '../agents/agent.ts'
import { digest } from '../digest.ts'
import { hashOf, type Redacted } from '../redaction/session.ts'
import { countOf } from '../report/text.ts'
import type { SessionState, SessionStates } from '../state/session-states.ts'
import { type EncodedMessage, encodeFields, encodeMessage } from './encode.ts'
import type { SessionRun } from './sync-session.ts'

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

/** The same message with its members in the order of a new one: in one that has grown they may stand in another. */
const asNew = ({ externalId, role, model, order, timestamp, parts }: SessionMessage): SessionMessage => ({
  externalId,
  role,
  ...(model === undefined ? {} : { model }),
  order,
  ...(timestamp === undefined ? {} : { timestamp }),
  parts,
})

const isSent = (sent: Uint8Array, message: SessionMessage): boolean =>
  [message, asNew(message)].some((each) => Buffer.compare(sent, encodeMessage(each).digest) === 0)

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

const textOf = (hashes: readonly string[], externalId: string): string => {
  const [what, them] = [countOf(hashes.length, 'secret'), hashes.length === 1 ? 'it' : 'them']
  const named = hashes.map((hash) => hash.slice(0, 12)).join(', ')
  const [remove, again] = [`${commandName} rm ${shellWord(externalId)}`, `${commandName} sync --force`]
  return (
    `${what} (${named}) had been sent before the session told that ${hashes.length === 1 ? 'it is one' : 'they are'}: ` +
    `the history of the trace keeps ${them}. "${remove}", then "${again}" with this file, erases ${them}`
  )
}

/** Tells of secrets that the history of a trace keeps, and what to do about them. */
export const tellSentSecrets = (
  { session, counts, report }: Pick<SessionRun, 'session' | 'counts' | 'report'>,
  externalId: string,
  sent: SentSecrets | undefined,
): void => {
  const hashes = sent?.hashes() ?? []
  if (hashes.length === 0) return
  counts.exposed++
  const message = textOf(hashes, externalId)
  report({ type: 'problem', kind: 'secret_in_history', file: session.source, externalId, message })
}
