import { createHash } from 'node:crypto'
import type { Part, Session, SessionMessage, SessionFields } from '../agents/agent.ts'
import { newHashedMap } from '../agents/support/hashed-map.ts'
import { digest } from '../digest.ts'
import { isEnvCall } from './env-file.ts'
import { type FindSecrets, findKnown, type Secret } from './find.ts'
import { mapFields, mapMessage, mapPart, type MapText, type Place } from './map-texts.ts'
import { butMarks, markOf } from './marks.ts'
import { isWordy } from './values.ts'

/** A secret that was found, without its value. The list of allowed values names it by `hash`. */
export type Redaction = {
  readonly rule: string
  readonly hash: string
  /** The message in which it was found; undefined for a field of the trace. */
  readonly externalId?: string
  /** The field, such as `parts/2/args/env/TOKEN` or `title`. */
  readonly where: string
}

/** The SHA-256 of a secret, in hex. */
export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex')

export type RedactionOptions = {
  /** Differs where other secrets are found or allowed than before: then all sessions are read again. */
  readonly version: string
  readonly find: FindSecrets
  /** Whether the user allows a value that looks like a secret, by its hash. */
  readonly isAllowed: (hash: string) => boolean
}

/** What a reading of added lines has to know of everything before them: the rule of each secret, and the calls that read or write an environment file. */
export type KnownSecrets = { readonly rules: ReadonlyMap<string, string>; readonly envCalls: ReadonlySet<string> }

/** Whether a secret is replaced everywhere. One that could be a word is replaced only where it was found. */
const isDistinct = (secret: string): boolean =>
  secret.length >= 12 || (secret.length >= 8 && /[0-9]/.test(secret) && /[A-Za-z]/.test(secret) && !isWordy(secret))

/** The calls of a session that read or write an environment file, with those that are known. */
const newEnvCalls = (known: ReadonlySet<string>) => {
  const calls = new Set(known)
  const isEnv = (part: Part): boolean => {
    if (part.type === 'tool_call' && isEnvCall(part.content.args)) calls.add(part.content.callId)
    return (part.type === 'tool_call' || part.type === 'tool_result') && calls.has(part.content.callId)
  }
  return { isEnv, calls }
}

const noSecrets: KnownSecrets = { rules: new Map(), envCalls: new Set() }

/** The secrets of one session: what was found, and how each is replaced. */
const newSecrets = ({ find, isAllowed }: Omit<RedactionOptions, 'version'>, known: KnownSecrets) => {
  const redactions: Redaction[] = []
  const rules = new Map<string, string>(known.rules)
  const distinct: string[] = [...rules.keys()].filter(isDistinct)
  let hasNew = false

  const secretsIn = (text: string, about: Place) => find(text, about).filter(({ value }) => !isAllowed(hashOf(value)))

  const replace = (text: string, found: readonly Secret[]): string => {
    let result = ''
    let from = 0
    for (const { rule, start, end, value } of found) {
      result += text.slice(from, start) + markOf(rules.get(value) ?? rule)
      from = end
    }
    return result + text.slice(from)
  }

  /** Notes the secrets in a text, and replaces them. */
  const note = (text: string, place: Place, externalId?: string): string => {
    const found = secretsIn(text, place)
    for (const { rule, value: secret } of found) {
      const where = { ...(externalId === undefined ? {} : { externalId }), where: place.where }
      redactions.push({ rule, hash: hashOf(secret), ...where })
      if (rules.has(secret)) continue
      rules.set(secret, rule)
      if (!isDistinct(secret)) continue
      distinct.push(secret)
      hasNew = true
    }
    return found.length > 0 ? replace(text, found) : text
  }

  /** Replaces what the rules find in a text. */
  const replaceFound = (text: string, place: Place): string => replace(text, secretsIn(text, place))

  /** Replaces secrets that were found anywhere in the session. */
  const replaceKnown = (text: string): string => replace(text, findKnown(text, distinct, rules))

  const findInStored = butMarks(find)
  /** Replaces both in a text that the service has, which may have marks already. `note` gets the secrets. */
  const replaceStored = (text: string, place: Place, note: (secret: string) => void): string => {
    const found = findInStored(text, place).filter(({ value }) => !isAllowed(hashOf(value)))
    const rest = replace(text, found)
    const known = findKnown(rest, distinct, rules)
    for (const { value } of [...found, ...known]) note(value)
    return replace(rest, known)
  }

  return { redactions, rules, note, replaceFound, replaceKnown, replaceStored, hasNew: () => hasNew }
}

/** A message without its secrets, and their hashes. */
export type WithoutSecrets = { readonly message: SessionMessage; readonly secrets: readonly string[] }

/** A session without its secrets, and what was taken out of it. */
export type Redacted = {
  readonly session: Session
  /** What was found before the first message is yielded, and later where the session changes while it is read. */
  readonly redactions: readonly Redaction[]
  /** Whether a secret was found that was not known before, and may be in the part that was not read. */
  readonly hasNew: () => boolean
  /** What a reading of lines that are added later has to know. */
  readonly known: KnownSecrets
  /**
   * Takes the secrets out of a message that the service has; it is the same object if it has none. `secrets` are the hashes of those that were
   * taken out.
   */
  readonly withoutSecrets: (message: SessionMessage) => WithoutSecrets
}

/** The messages that were searched: the objects where the session yields the same ones again, otherwise a digest of their texts. */
const newScanned = ({ isKept = false }: Session) => {
  const objects = new WeakSet<SessionMessage>()
  const keys = newHashedMap()
  const keyOf = ({ externalId, parts }: SessionMessage): string => {
    const texts = [externalId]
    const note: MapText = (text) => (texts.push(text), text)
    for (const part of parts) mapPart(part, '', note)
    return digest(texts.join('\0'))
  }
  return {
    add: (message: SessionMessage) => void (isKept ? objects.add(message) : keys.add(keyOf(message))),
    has: (message: SessionMessage): boolean => objects.has(message) || keys.get(keyOf(message)) !== undefined,
  }
}

/**
 * Takes the secrets out of a session: each is replaced by `[redacted:<rule>]`, and the same secret by the same text wherever it
 * occurs. So all messages are read once before the first one is yielded. A message that its agent has changed in between is searched
 * when it is yielded. `known` are the secrets in the part that is not read again, where only added lines are read. Throws what reading
 * the session throws.
 */
export const redactSession = async (
  session: Session,
  options: Omit<RedactionOptions, 'version'>,
  known = noSecrets,
): Promise<Redacted> => {
  const secrets = newSecrets(options, known)
  const [scanned, affected] = [newScanned(session), new Set<string>()]
  const { isEnv, calls: envCalls } = newEnvCalls(known.envCalls)
  const scan = (message: SessionMessage): void => {
    const { externalId } = message
    const redacted = mapMessage(message, isEnv, (text, place) => secrets.note(text, place, externalId))
    if (redacted !== message) affected.add(externalId)
  }
  mapFields(session.trace, (text, where, name) => secrets.note(text, { where, name, isEnv: false }))
  for await (const message of session.messages({ again: true })) {
    scan(message)
    scanned.add(message)
  }

  async function* messages() {
    for await (const message of session.messages()) {
      if (!scanned.has(message)) scan(message)
      yield secrets.rules.size === 0 ? message : redactMessage(message)
    }
  }
  const redactMessage = (message: SessionMessage): SessionMessage => {
    const isAffected = affected.has(message.externalId)
    return mapMessage(message, isEnv, (text, place) =>
      secrets.replaceKnown(isAffected ? secrets.replaceFound(text, place) : text),
    )
  }
  const redactFields = (fields: SessionFields): SessionFields =>
    mapFields(fields, (text, where, name) =>
      secrets.replaceKnown(secrets.replaceFound(text, { where, name, isEnv: false })),
    )
  const withoutSecrets = (message: SessionMessage): WithoutSecrets => {
    const found = new Set<string>()
    const note = (secret: string) => void found.add(hashOf(secret))
    const redacted = mapMessage(message, isEnv, (text, place) => secrets.replaceStored(text, place, note))
    return { message: redacted, secrets: [...found] }
  }
  return {
    session: { ...session, trace: redactFields(session.trace), messages },
    redactions: secrets.redactions,
    hasNew: secrets.hasNew,
    known: { rules: secrets.rules, envCalls },
    withoutSecrets,
  }
}
