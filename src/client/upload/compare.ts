import { parseExact } from '../../base/json/exact.ts'
import { digestBytes } from '../digest.ts'
import type { Part, SessionMessage } from '../agents/agent.ts'
import type { Redacted } from '../redaction/session.ts'
import type { EncodedMessage } from './encode.ts'
import type { StoredMessage } from './stored-messages.ts'
import { type AnyMessage, hasMore, isSameMessage, showsSecret, withMarksOf } from './within.ts'

/** A stored message as redaction searches it: its text beside the parts, if it has any, is one more part, the last. */
export const toSearch = ({ externalId, role, textContent, parts = [] }: StoredMessage): SessionMessage => {
  const own = textContent === undefined ? [] : [{ type: 'text', content: { text: textContent } }]
  const all = [...parts.map(({ order: _, ...part }) => part), ...own]
  return { externalId, role, order: 0, parts: all as readonly Part[] }
}

/** What of a stored message was searched, as the service has it. */
const fromSearch = ({ role, parts }: SessionMessage, { textContent }: StoredMessage): AnyMessage =>
  textContent === undefined
    ? { role, parts }
    : { role, textContent: (parts.at(-1) as Extract<Part, { type: 'text' }>).content.text, parts: parts.slice(0, -1) }

/** A message that was searched and changed, as it is sent. What was not searched stays as the service has it. */
export const toSend = (message: SessionMessage, stored: StoredMessage): EncodedMessage => {
  const { externalId } = message
  const json = Buffer.from(JSON.stringify({ externalId, ...fromSearch(message, stored) }))
  return { externalId, line: 0, json, digest: digestBytes(json), truncations: [] }
}

/** What is done with a message. */
type Compared = {
  /** It is sent, the service has it, or the service has more of it. */
  readonly is: 'sent' | 'same' | 'left'
  /** As it is sent, and noted. */
  readonly message: EncodedMessage
  /** Whether it takes a secret out of what the service has. */
  readonly takesOut: boolean
  /** The hashes of such secrets, as far as they are known. */
  readonly secrets: readonly string[]
}

type Options = {
  /** Finds the secrets in what the service has; undefined where no secrets are known. */
  readonly withoutSecrets?: Redacted['withoutSecrets'] | undefined
  /** Whether it is sent as it is, also if the service has more of it. */
  readonly force: boolean
}

/**
 * Compares a message with what the service has of it. What the service has more of stays, but for the secrets that are known here; and what is
 * sent keeps the marks that the service has in the place of others, so that a client that does not know a secret does not bring it back.
 */
export const compareMessage = (
  encoded: EncodedMessage,
  stored: StoredMessage,
  { withoutSecrets, force }: Options,
): Compared => {
  const message = parseExact(encoded.json.toString()) as AnyMessage
  const searched = toSearch(stored)
  const { message: clean, secrets } = withoutSecrets?.(searched) ?? { message: searched, secrets: [] }
  const isClean = clean === searched
  const takesOut = !isClean || showsSecret(stored, message)
  const sent = { is: 'sent', takesOut, secrets } as const
  if (force) return { ...sent, message: encoded }
  if (isClean && isSameMessage(message, stored)) return { is: 'same', message: encoded, takesOut: false, secrets }
  const theirs = { ...encoded, isTheirs: true }
  const kept = isClean ? stored : fromSearch(clean, stored)
  if (hasMore(withMarksOf(kept, message), message))
    return isClean
      ? { is: 'left', message: theirs, takesOut: false, secrets }
      : { ...sent, message: { ...theirs, json: toSend(clean, stored).json } }
  const marked = withMarksOf(message, stored)
  return { ...sent, message: marked === message ? encoded : { ...theirs, json: Buffer.from(JSON.stringify(marked)) } }
}
