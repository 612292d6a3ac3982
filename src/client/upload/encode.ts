import { isLongerThan, LONG_TEXT, SHORT_TEXT, truncateText } from '../../base/texts.ts'
import type { Part, SessionMessage, SessionFields } from '../agents/agent.ts'
import { digest, digestBytes } from '../digest.ts'

/** A value with its text truncated to what the service accepts, and a description of each truncation. */
type Truncated<T> = { readonly value: T; readonly truncations: readonly string[] }

const maxLengthOf: { readonly [Name in keyof Required<SessionFields>]: number } = {
  agentId: SHORT_TEXT,
  title: LONG_TEXT,
  projectPath: LONG_TEXT,
  projectName: SHORT_TEXT,
  model: SHORT_TEXT,
  gitBranch: SHORT_TEXT,
  gitRemoteUrl: LONG_TEXT,
  gitRef: SHORT_TEXT,
  parentExternalId: LONG_TEXT, // an id, which is shorter (agents/support/external-ids.ts)
  parentCallId: SHORT_TEXT,
  parentKind: SHORT_TEXT,
}

/** A truncated id ends in a digest of the whole one, so that two long ids with the same beginning stay different. */
const truncateId = (id: string): string =>
  isLongerThan(id, SHORT_TEXT) ? `${truncateText(id, SHORT_TEXT - 32)}${digest(id)}` : id

const describeTruncation = (name: string, max: number) => `${name} cut to ${max.toLocaleString('en')} characters`

const truncateFields = (fields: SessionFields): Truncated<SessionFields> => {
  const truncations: string[] = []
  const truncated = Object.entries(fields).map(([name, value]: [string, string]) => {
    const max = maxLengthOf[name as keyof SessionFields]
    if (isLongerThan(value, max)) truncations.push(describeTruncation(name, max))
    // As the call itself is cut.
    return [name, name === 'parentCallId' ? truncateId(value) : truncateText(value, max)]
  })
  return { value: Object.fromEntries(truncated) as SessionFields, truncations }
}

const truncatePart = (part: Part, note: (name: string) => void): Part => {
  if (part.type !== 'tool_call' && part.type !== 'tool_result') return part
  const { callId, toolName } = part.content
  if (isLongerThan(callId, SHORT_TEXT)) note('callId')
  if (isLongerThan(toolName, SHORT_TEXT)) note('toolName')
  return {
    ...part,
    content: { ...part.content, callId: truncateId(callId), toolName: truncateText(toolName, SHORT_TEXT) },
  } as Part
}

const truncateMessage = (message: SessionMessage): Truncated<SessionMessage> => {
  const names = new Set<string>()
  const note = (name: string) => void names.add(name)
  const { model } = message
  if (model !== undefined && isLongerThan(model, SHORT_TEXT)) note('model')
  const parts = message.parts.map((part) => truncatePart(part, note))
  if (names.size === 0) return { value: message, truncations: [] }
  const value = { ...message, ...(model === undefined ? {} : { model: truncateText(model, SHORT_TEXT) }), parts }
  return { value, truncations: [...names].map((name) => describeTruncation(name, SHORT_TEXT)) }
}

/** A message as it is sent: its JSON text in UTF-8, and the digest of that. */
export type EncodedMessage = {
  readonly externalId: string
  readonly line: number
  readonly json: Buffer
  readonly digest: Uint8Array
  /** A description of each text that had to be truncated. */
  readonly truncations: readonly string[]
  /** Whether what the service has, or gets, is not this version, but that of another machine, which has at least as much (`MessageNote`). */
  readonly isTheirs?: boolean
}

/**
 * Every message passes through here before it is sent, so the service's limits on text are applied here. The digest is that
 * of the text that is sent. Throws RangeError when the message is nested too deeply for JSON.stringify.
 */
export const encodeMessage = (message: SessionMessage): EncodedMessage => {
  const { value, truncations } = truncateMessage(message)
  const json = Buffer.from(JSON.stringify(value))
  return {
    externalId: message.externalId,
    line: message.order,
    json,
    digest: digestBytes(json),
    truncations,
  }
}

type EncodedFields = { readonly fields: ReadonlyMap<string, string>; readonly truncations: readonly string[] }

/** The trace's fields as they are sent, by name, and a description of each that had to be truncated. */
export const encodeFields = (traceFields: SessionFields): EncodedFields => {
  const { value, truncations } = truncateFields(traceFields)
  return { fields: new Map(Object.entries(value)), truncations }
}
