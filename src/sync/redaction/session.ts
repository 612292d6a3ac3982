import { createHash } from 'node:crypto'
import type { Part, Session, SessionMessage, TraceFields } from '../agents/agent.ts'
import { newHashedMap } from '../agents/support/hashed-map.ts'
import { digest } from '../digest.ts'
import { isEnvCall } from './env-file.ts'
import { type EarlierForm, earlierForms } from './earlier-forms.ts'
import type { FindSecrets } from './find.ts'
import { mapFields, mapMessage, mapPart, type MapText, type Place } from './map-texts.ts'
import type { SecretMemory } from './memory.ts'
import type { Finding } from './rules.ts'
import { isWordy } from './values.ts'

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
  /** What is known of sessions that are read again and again, as in a watch. Without it one with secrets is always read whole. */
  readonly memory?: SecretMemory
}

/** The text of a secret in every message that goes out. */
const replacementOf = (rule: string) => `[redacted:${rule}]`

/** Secrets that could be words are replaced where they were found, and nowhere else. */
const isDistinct = (secret: string): boolean =>
  secret.length >= 12 || (secret.length >= 8 && /[0-9]/.test(secret) && /[A-Za-z]/.test(secret) && !isWordy(secret))

/** Which calls of a session read or write an environment file. `known`: those of what is not read again. */
const newEnvCalls = (known: ReadonlySet<string>) => {
  const calls = new Set(known)
  const isEnv = (part: Part): boolean => {
    if (part.type === 'tool_call' && isEnvCall(part.content.args)) calls.add(part.content.callId)
    return (part.type === 'tool_call' || part.type === 'tool_result') && calls.has(part.content.callId)
  }
  return { isEnv, calls }
}

/** What a later reading, of what was added to a session only, has to know of all before it. It holds secrets. */
export type KnownSecrets = {
  /** The rule that found each, in the order in which they were found. */
  readonly rules: ReadonlyMap<string, string>
  /** The ids of calls that read or write an environment file. */
  readonly envCalls: ReadonlySet<string>
}

const nothing: KnownSecrets = { rules: new Map(), envCalls: new Set() }

/** The secrets of one session: what was found, and what takes the place of each. */
const newSecrets = ({ find, isAllowed }: Omit<RedactionOptions, 'version'>, known: KnownSecrets) => {
  const redactions: Redaction[] = []
  const rules = new Map<string, string>(known.rules)
  const distinct: string[] = [...rules.keys()].filter(isDistinct)
  let hasNew = false

  const secretsIn = (text: string, about: Place) =>
    find(text, about).filter(({ start, end }) => !isAllowed(hashOf(text.slice(start, end))))

  const replace = (text: string, found: readonly Finding[]): string => {
    let result = ''
    let from = 0
    for (const { rule, start, end } of found) {
      result += text.slice(from, start) + replacementOf(rules.get(text.slice(start, end)) ?? rule)
      from = end
    }
    return result + text.slice(from)
  }

  /** Notes what a text holds, and replaces it. */
  const note = (text: string, place: Place, externalId?: string): string => {
    const found = secretsIn(text, place)
    for (const { rule, start, end } of found) {
      const secret = text.slice(start, end)
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

  /** Replaces what the rules find in a text, but for some secrets. */
  const replaceFound = (text: string, place: Place, except?: ReadonlySet<string>): string => {
    const found = secretsIn(text, place)
    return replace(text, except ? found.filter(({ start, end }) => !except.has(text.slice(start, end))) : found)
  }

  /** Replaces secrets that were found anywhere in the session. The longest first: one may be a part of another. */
  const replaceKnown = (text: string, except?: ReadonlySet<string>): string => {
    let result = text
    for (const secret of distinct)
      if (result.includes(secret) && !except?.has(secret))
        result = result.replaceAll(secret, replacementOf(rules.get(secret)!))
    return result
  }
  const learned = () => void distinct.sort((a, b) => b.length - a.length)

  /** All of them, in the order in which they were found. */
  const all = (): readonly string[] => [...rules.keys()]
  learned()

  return { redactions, rules, note, learned, replaceFound, replaceKnown, all, hasNew: () => hasNew }
}

/** A session without its secrets, and what was taken out of it. */
export type Redacted = {
  readonly session: Session
  /** What was found before the first message is given; more, where the session changes while it is read. */
  readonly redactions: readonly Redaction[]
  /** Whether a secret was found that was not known, and may stand in what was not read. */
  readonly hasNew: () => boolean
  /** What a later reading has to know; undefined where that is nothing. */
  readonly known: () => KnownSecrets | undefined
  /** What a message that `session` has given may have been before all of its secrets were known, or all of its parts written. */
  readonly earlierMessages: (message: SessionMessage) => Iterable<EarlierForm<SessionMessage>>
  /** The same of the trace's fields. */
  readonly earlierTraces: () => Iterable<EarlierForm<TraceFields>>
}

/** The messages that were looked through: the objects themselves where they are given again, else the very texts that they had. */
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
 * Takes the secrets out of a session: each is replaced by `[redacted:<rule>]`, and the same one by the same text wherever it
 * occurs. For that all messages are read once before the first of them is given. Its agent may write in between: a message that
 * is another one then is looked through as it is given. `known` is of what is not read again, where a part of the session is
 * read. Throws what reading the session throws.
 */
export const redactSession = async (
  session: Session,
  options: Omit<RedactionOptions, 'version'>,
  known = nothing,
): Promise<Redacted> => {
  const secrets = newSecrets(options, known)
  const [scanned, affected] = [newScanned(session), new Set<string>()]
  const { isEnv, calls: envCalls } = newEnvCalls(known.envCalls)
  const originals = new WeakMap<SessionMessage, SessionMessage>()
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
  secrets.learned()

  async function* messages() {
    for await (const message of session.messages()) {
      if (!scanned.has(message)) {
        scan(message)
        secrets.learned()
      }
      const redacted = secrets.rules.size === 0 ? message : redactMessage(message)
      if (redacted !== message) originals.set(redacted, message)
      yield redacted
    }
  }
  const redactMessage = (message: SessionMessage, except?: ReadonlySet<string>): SessionMessage => {
    const isAffected = affected.has(message.externalId)
    return mapMessage(message, isEnv, (text, place) =>
      secrets.replaceKnown(isAffected ? secrets.replaceFound(text, place, except) : text, except),
    )
  }
  const redactFields = (fields: TraceFields, except?: ReadonlySet<string>): TraceFields =>
    mapFields(fields, (text, where, name) =>
      secrets.replaceKnown(secrets.replaceFound(text, { where, name, isEnv: false }, except), except),
    )

  function* earlierMessages(redacted: SessionMessage) {
    const message = originals.get(redacted)
    for (let length = message?.parts.length ?? 0; length > 0; length--)
      yield* earlierForms({ ...message!, parts: message!.parts.slice(0, length) }, secrets.all(), redactMessage)
  }
  return {
    session: { ...session, trace: redactFields(session.trace), messages },
    redactions: secrets.redactions,
    hasNew: secrets.hasNew,
    known: () => (secrets.rules.size === 0 && envCalls.size === 0 ? undefined : { rules: secrets.rules, envCalls }),
    earlierMessages,
    earlierTraces: () => earlierForms(session.trace, secrets.all(), redactFields),
  }
}
