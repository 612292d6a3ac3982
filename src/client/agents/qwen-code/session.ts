import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { SessionFields } from '../agent.ts'
import { acceptedId } from '../support/external-ids.ts'
import { unknownParts } from '../support/gemini-content.ts'
import { isObject, type Json, objectOf, parseObject, textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { forkOf, storedTitle } from '../support/trace-fields.ts'
import { payloadOf } from './content.ts'

const TYPES = ['user', 'assistant', 'tool_result', 'system']

/** Whether a line has the form of a record that the CLI writes: what it says is in parts, as in Gemini's API. */
export const isRecord = ({ type, uuid, parentUuid, sessionId, message, systemPayload }: Json): boolean =>
  TYPES.includes(String(type)) &&
  typeof uuid === 'string' &&
  typeof sessionId === 'string' &&
  (parentUuid === null || typeof parentUuid === 'string') &&
  (type === 'system' ? isObject(systemPayload) : isObject(message) && Array.isArray(message['parts']))

/** What a record holds that is left out, because its kind is not known (README, rule 14). System records of any kind are known. */
export const unknownIn = ({ type, message }: Json): readonly unknown[] =>
  TYPES.includes(String(type)) ? unknownParts(objectOf(message)['parts']) : [type]

/** Whether a file begins with a record, also where it is longer than the beginning. */
export const beginsLikeRecord = (text: string): boolean =>
  /^\s*\{"uuid":"[^"]*","parentUuid":(?:null|"[^"]*"),"sessionId":"[^"]*","timestamp":"[^"]*","type":"(?:user|assistant)",[^\n]*"parts":\[/.test(
    text,
  )

/** Records beside the conversation, which no other record follows. */
const BESIDE = /^(?:custom_title$|session_artifact_|session_sources_snapshot$|managed_session_)/

export const isInTree = ({ type, subtype }: Json): boolean => type !== 'system' || !BESIDE.test(String(subtype))

/** What records say about the session itself. */
export type Details = {
  sessionId?: string
  projectPath?: string
  gitBranch?: string
  title?: string
  /** The session of which this one is a fork. */
  forkedFrom?: string
  /** The session that has started this one by a call. */
  startedBy?: string
}

const set = <Key extends keyof Details>(details: Details, key: Key, value: Details[Key]): void => {
  if (value !== undefined) details[key] = value
}

/** Notes what a record says about the session (README, rules 10 and 11). */
export const noteDetails = (details: Details, { json, path }: ObjectLine): void => {
  set(details, 'sessionId', details.sessionId ?? textOf(json['sessionId']))
  set(details, 'projectPath', details.projectPath ?? textOf(json['cwd']))
  set(details, 'forkedFrom', details.forkedFrom ?? textOf(objectOf(json['forkedFrom'])['sessionId']))
  if (path === undefined) set(details, 'gitBranch', textOf(json['gitBranch']))
  if (json['subtype'] === 'custom_title') set(details, 'title', storedTitle(payloadOf(json)['customTitle']))
  if (json['subtype'] === 'parent_session') set(details, 'startedBy', textOf(payloadOf(json)['parentSessionId']))
}

const AGENT = /^agent-(.+)\.jsonl$/

/** Whether the file holds a sub-agent's own session: `agent-<id>.jsonl`. */
const isSubAgent = (path: string): boolean => AGENT.test(basename(path))

/** What the CLI stores of a sub-agent beside its records; an empty object for other sessions. */
export const agentOf = (path: string): Json => {
  if (!isSubAgent(path)) return {}
  try {
    return parseObject(readFileSync(path.replace(/\.jsonl$/, '.meta.json'), 'utf8')) ?? {}
  } catch {
    return {}
  }
}

/** What a sub-agent was to do, in a few words. */
export const descriptionOf = (path: string): string | undefined => storedTitle(agentOf(path)['description'])

/** The session's id: that of a sub-agent is the name of its file (README, rule 10). */
export const externalIdOf = (path: string, { sessionId }: Details): string => {
  const name = basename(path).replace(/\.jsonl$/, '')
  return acceptedId(isSubAgent(path) ? name : (sessionId ?? name), 'session')
}

/** The session that has started a sub-agent: another sub-agent, or the session that its records name. */
const starterOf = (path: string, { sessionId }: Details, agent: Json): string | undefined => {
  const parent = textOf(agent['parentAgentId'])
  if (parent !== undefined) return `agent-${parent.replace(/[^a-zA-Z0-9_-]/g, '_')}`
  return sessionId ?? (basename(dirname(dirname(path))) === 'subagents' ? basename(dirname(path)) : undefined)
}

/** The session that this one comes from, and how (README, rule 10). */
export const originOf = (
  path: string,
  details: Details,
  agent: Json,
): Pick<SessionFields, 'parentExternalId' | 'parentCallId' | 'parentKind'> => {
  const { startedBy, forkedFrom } = details
  const starter = isSubAgent(path) ? starterOf(path, details, agent) : startedBy
  if (starter === undefined) return forkedFrom === undefined ? {} : forkOf(forkedFrom)
  const callId = textOf(agent['toolUseId'])
  return { parentExternalId: acceptedId(starter, 'session'), ...(callId === undefined ? {} : { parentCallId: callId }) }
}
