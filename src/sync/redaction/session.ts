import { createHash } from 'node:crypto'
import type { Part, Session, SessionMessage, TraceFields } from '../agents/agent.ts'
import { newHashedMap } from '../agents/support/hashed-map.ts'
import { digest } from '../digest.ts'
import { isEnvFile } from './env-file.ts'
import { type EarlierForm, earlierForms } from './earlier-forms.ts'
import type { FindSecrets } from './find.ts'
import type { Finding } from './finding.ts'
import { mapFields, mapMessage, mapPart, type MapText } from './map-texts.ts'

/** A secret that was found, without its value. `hash` is what an allow-list names it by. */
export type Redaction = {
  readonly rule: string
  readonly hash: string
  /** The message it was found in; undefined for a field of the trace. */
  readonly externalId?: string
  /** The field, such as `parts/2/args/env/TOKEN` or `title`. */
  readonly where: string
}

/** The SHA-256 of a secret, in hex. */
export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex')

export type RedactionOptions = {
  /** Differs when other secrets are found, or allowed, than before: then all sessions are read again. */
  readonly version: string
  readonly find: FindSecrets
  /** Whether a value that looks like a secret is none, by its hash. */
  readonly isAllowed: (hash: string) => boolean
}

/** The text of a secret in every message that goes out. */
const replacementOf = (rule: string) => `[redacted:${rule}]`

/** Secrets that are shorter could be words: they are replaced where they were found, and nowhere else. */
const DISTINCT_LENGTH = 12

/** Paths of files that a call names: what it reads or writes may be an environment file. */
const namesEnvFile = (args: Readonly<Record<string, unknown>>): boolean =>
  Object.values(args).some(
    (value) => typeof value === 'string' && value.length < 2_000 && value.split(/[\s"'=;|&]+/).some(isEnvFile),
  )

/** Which calls of a session read or write an environment file. */
const newEnvCalls = () => {
  const calls = new Set<string>()
  return (part: Part): boolean => {
    if (part.type === 'tool_call' && namesEnvFile(part.content.args)) calls.add(part.content.callId)
    return (part.type === 'tool_call' || part.type === 'tool_result') && calls.has(part.content.callId)
  }
}

/** The secrets of one session: what was found, and what takes the place of each. */
const newSecrets = ({ find, isAllowed }: Omit<RedactionOptions, 'version'>) => {
  const redactions: Redaction[] = []
  const replacements = new Map<string, string>()
  const distinct: string[] = []

  const secretsIn = (text: string, isEnv: boolean) =>
    find(text, isEnv).filter(({ start, end }) => !isAllowed(hashOf(text.slice(start, end))))

  const replace = (text: string, found: readonly Finding[]): string => {
    let result = ''
    let from = 0
    for (const { rule, start, end } of found) {
      result += text.slice(from, start) + (replacements.get(text.slice(start, end)) ?? replacementOf(rule))
      from = end
    }
    return result + text.slice(from)
  }

  /** Notes what a text holds, and replaces it. */
  const note = (text: string, where: string, isEnv: boolean, externalId?: string): string => {
    const found = secretsIn(text, isEnv)
    for (const { rule, start, end } of found) {
      const secret = text.slice(start, end)
      redactions.push({ rule, hash: hashOf(secret), ...(externalId === undefined ? {} : { externalId }), where })
      if (replacements.has(secret)) continue
      replacements.set(secret, replacementOf(rule))
      if (secret.length >= DISTINCT_LENGTH) distinct.push(secret)
    }
    return found.length > 0 ? replace(text, found) : text
  }

  /** Replaces what the rules find in a text, but for some secrets. */
  const replaceFound = (text: string, isEnv: boolean, except?: ReadonlySet<string>): string => {
    const found = secretsIn(text, isEnv)
    return replace(text, except ? found.filter(({ start, end }) => !except.has(text.slice(start, end))) : found)
  }

  /** Replaces secrets that were found anywhere in the session. The longest first: one may be a part of another. */
  const replaceKnown = (text: string, except?: ReadonlySet<string>): string => {
    let result = text
    for (const secret of distinct)
      if (result.includes(secret) && !except?.has(secret)) result = result.replaceAll(secret, replacements.get(secret)!)
    return result
  }
  const learned = () => void distinct.sort((a, b) => b.length - a.length)

  /** All of them, in the order in which they were found. */
  const all = (): readonly string[] => [...replacements.keys()]

  return { redactions, note, learned, replaceFound, replaceKnown, all }
}

/** A session without its secrets, and what was taken out of it. */
export type Redacted = {
  readonly session: Session
  /** What was found before the first message is given; more, where the session changes while it is read. */
  readonly redactions: readonly Redaction[]
  /** Whether nothing was taken out, and no call names an environment file: what that gives may be all secret. */
  readonly isClean: () => boolean
  /** What a message that `session` has given may have been before all of its secrets were known, or all of its parts written. */
  readonly earlierMessages: (message: SessionMessage) => Iterable<EarlierForm<SessionMessage>>
  /** The same of the trace's fields. */
  readonly earlierTraces: () => Iterable<EarlierForm<TraceFields>>
}

/** The messages that were looked through, with the very texts that they had. */
const newScanned = () => {
  const keys = newHashedMap()
  const keyOf = ({ externalId, parts }: SessionMessage): string => {
    const texts = [externalId]
    const note: MapText = (text) => (texts.push(text), text)
    for (const part of parts) mapPart(part, '', note)
    return digest(texts.join('\0'))
  }
  return {
    add: (message: SessionMessage) => void keys.add(keyOf(message)),
    has: (message: SessionMessage): boolean => keys.get(keyOf(message)) !== undefined,
  }
}

/** Calls of environment files, over all messages. */
const newEnvParts = () => {
  const isEnvCallPart = newEnvCalls()
  let hasAny = false
  const isEnv = (part: Part): boolean => {
    const is = isEnvCallPart(part)
    hasAny ||= is
    return is
  }
  return { isEnv, hasAny: () => hasAny }
}

/**
 * Takes the secrets out of a session: each is replaced by `[redacted:<rule>]`, and the same one by the same text wherever it
 * occurs. For that all messages are read once before the first of them is given. Its agent may write in between: a message that
 * is another one then is looked through as it is given. Throws what reading the session throws.
 */
export const redactSession = async (
  session: Session,
  options: Omit<RedactionOptions, 'version'>,
): Promise<Redacted> => {
  const secrets = newSecrets(options)
  const [scanned, affected, { isEnv, hasAny }] = [newScanned(), new Set<string>(), newEnvParts()]
  const originals = new WeakMap<SessionMessage, SessionMessage>()
  const scan = (message: SessionMessage): void => {
    const { externalId } = message
    const redacted = mapMessage(message, isEnv, (text, where, isEnv) => secrets.note(text, where, isEnv, externalId))
    if (redacted !== message) affected.add(externalId)
  }
  mapFields(session.trace, (text, where) => secrets.note(text, where, false))
  for await (const message of session.messages({ again: true })) {
    scan(message)
    scanned.add(message)
  }
  secrets.learned()

  async function* messages() {
    for await (const message of session.messages()) {
      if (!scanned.has(message)) {
        scan(message)
        secrets.learned()
      }
      const redacted = secrets.redactions.length === 0 ? message : redactMessage(message)
      if (redacted !== message) originals.set(redacted, message)
      yield redacted
    }
  }
  const redactMessage = (message: SessionMessage, except?: ReadonlySet<string>): SessionMessage => {
    const isAffected = affected.has(message.externalId)
    return mapMessage(message, isEnv, (text, _where, isEnv) =>
      secrets.replaceKnown(isAffected ? secrets.replaceFound(text, isEnv, except) : text, except),
    )
  }
  const redactFields = (fields: TraceFields, except?: ReadonlySet<string>): TraceFields =>
    mapFields(fields, (text) => secrets.replaceKnown(secrets.replaceFound(text, false, except), except))

  function* earlierMessages(redacted: SessionMessage) {
    const message = originals.get(redacted)
    for (let length = message?.parts.length ?? 0; length > 0; length--)
      yield* earlierForms({ ...message!, parts: message!.parts.slice(0, length) }, secrets.all(), redactMessage)
  }
  return {
    session: { ...session, trace: redactFields(session.trace), messages },
    redactions: secrets.redactions,
    isClean: () => secrets.redactions.length === 0 && !hasAny(),
    earlierMessages,
    earlierTraces: () => earlierForms(session.trace, secrets.all(), redactFields),
  }
}
