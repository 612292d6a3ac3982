import { createHash } from 'node:crypto'
import type { Part, Session, SessionMessage, SessionFields } from '../agents/agent.ts'
import { newHashedMap } from '../agents/support/hashed-map.ts'
import { digest } from '../digest.ts'
import { isEnvCall } from './env-file.ts'
import type { FindSecrets } from './find.ts'
import { mapFields, mapMessage, mapPart, type MapText, type Place } from './map-texts.ts'
import type { SecretMemory } from './memory.ts'
import type { Finding } from './rules.ts'
import { isWordy } from './values.ts'

/** A value as it may have been sent earlier, and those of its secrets that were not known then. */
type EarlierForm<T> = { readonly value: T; readonly unknown: readonly string[] }

type Sets = readonly (readonly string[])[]

/** Up to this number of secrets all sets of them are tried. */
const FEW = 4

const allSets = (secrets: readonly string[]): Sets =>
  secrets.reduce<Sets>((sets, secret) => sets.flatMap((set) => [set, [...set, secret]]), [[]])

/**
 * The likely sets of unknown secrets, which are given in the order in which they were found. A session was sent up to some place, and
 * what is found behind it was unknown then; and each one alone may have been allowed, or not found by older rules.
 */
const likelySets = (secrets: readonly string[]): Sets => [
  [],
  ...secrets.map((_, known) => secrets.slice(known)),
  ...secrets.slice(0, -1).map((secret) => [secret]),
]

/** The forms in which a value may have been sent, the one without secrets first. `redact` leaves the secrets `except` in. */
function* earlierForms<T>(
  value: T,
  secrets: readonly string[],
  redact: (value: T, except: ReadonlySet<string>) => T,
): Generator<EarlierForm<T>> {
  const text = JSON.stringify(redact(value, new Set(secrets)))
  const held = secrets.filter((secret) => text.includes(JSON.stringify(secret).slice(1, -1)))
  const sets = held.length <= FEW ? allSets(held) : likelySets(held)
  for (const unknown of sets) yield { value: redact(value, new Set(unknown)), unknown }
}

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
  /** The secrets of sessions that a watch reads again and again. Without it a session with secrets is always read as a whole. */
  readonly memory?: SecretMemory
}

/** What replaces a secret in everything that is sent. */
const replacementOf = (rule: string) => `[redacted:${rule}]`

/** Whether a secret is replaced everywhere. One that could be a word is replaced only where it was found. */
const isDistinct = (secret: string): boolean =>
  secret.length >= 12 || (secret.length >= 8 && /[0-9]/.test(secret) && /[A-Za-z]/.test(secret) && !isWordy(secret))

/** The calls of a session that read or write an environment file. `known` are those in the part that is not read again. */
const newEnvCalls = (known: ReadonlySet<string>) => {
  const calls = new Set(known)
  const isEnv = (part: Part): boolean => {
    if (part.type === 'tool_call' && isEnvCall(part.content.args)) calls.add(part.content.callId)
    return (part.type === 'tool_call' || part.type === 'tool_result') && calls.has(part.content.callId)
  }
  return { isEnv, calls }
}

/** What a later reading of added lines has to know of everything before them. It contains secrets. */
export type KnownSecrets = {
  /** The rule that found each secret, in the order in which they were found. */
  readonly rules: ReadonlyMap<string, string>
  /** The ids of calls that read or write an environment file. */
  readonly envCalls: ReadonlySet<string>
}

const noSecrets: KnownSecrets = { rules: new Map(), envCalls: new Set() }

/** The secrets of one session: what was found, and how each is replaced. */
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

  /** Notes the secrets in a text, and replaces them. */
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

  /** Replaces what the rules find in a text, except for some secrets. */
  const replaceFound = (text: string, place: Place, except?: ReadonlySet<string>): string => {
    const found = secretsIn(text, place)
    return replace(text, except ? found.filter(({ start, end }) => !except.has(text.slice(start, end))) : found)
  }

  /** Replaces secrets that were found anywhere in the session, the longest first, because one may be a part of another. */
  const replaceKnown = (text: string, except?: ReadonlySet<string>): string => {
    let result = text
    for (const secret of distinct)
      if (result.includes(secret) && !except?.has(secret))
        result = result.replaceAll(secret, replacementOf(rules.get(secret)!))
    return result
  }
  const sortDistinct = () => void distinct.sort((a, b) => b.length - a.length)

  /** All secrets, in the order in which they were found. */
  const all = (): readonly string[] => [...rules.keys()]
  sortDistinct()

  return { redactions, rules, note, sortDistinct, replaceFound, replaceKnown, all, hasNew: () => hasNew }
}

/** A session without its secrets, and what was taken out of it. */
export type Redacted = {
  readonly session: Session
  /** What was found before the first message is yielded, and later where the session changes while it is read. */
  readonly redactions: readonly Redaction[]
  /** Whether a secret was found that was not known before, and may be in the part that was not read. */
  readonly hasNew: () => boolean
  /** What a later reading has to know; undefined if that is nothing. */
  readonly known: () => KnownSecrets | undefined
  /** How a message of `session` may have been sent before all of its secrets were known, or all of its parts were written. */
  readonly earlierMessages: (message: SessionMessage) => Iterable<EarlierForm<SessionMessage>>
  /** The same for the trace's fields. */
  readonly earlierTraces: () => Iterable<EarlierForm<SessionFields>>
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
  secrets.sortDistinct()

  async function* messages() {
    for await (const message of session.messages()) {
      if (!scanned.has(message)) {
        scan(message)
        secrets.sortDistinct()
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
  const redactFields = (fields: SessionFields, except?: ReadonlySet<string>): SessionFields =>
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
