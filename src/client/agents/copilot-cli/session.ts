import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isObject, type Json, objectOf, textOf } from '../support/json.ts'
import { storedTitle } from '../support/trace-fields.ts'

/** Whether a line has the form of an event that the CLI writes. */
export const isEvent = ({ type, data }: Json): boolean =>
  /^(session|user|assistant|tool|system|subagent|hook)\.\w/.test(String(type)) && isObject(data)

/** Events that say nothing of the conversation, or repeat it, by what their names begin with (README, rule 8). */
const BESIDE_IT =
  /^(?:session|tool|system|subagent|hook|skill|permission|user_input|elicitation|external_tool|command|exit_plan_mode|pending_messages|mcp|sampling|auto_mode_switch|abort)(?:\.|$)/

const OF_CONVERSATION = [
  ...['user.message', 'assistant.message', 'assistant.reasoning', 'assistant.turn_start', 'assistant.turn_end'],
  ...['assistant.intent', 'assistant.usage', 'assistant.message_delta', 'assistant.reasoning_delta'],
  ...['assistant.message_start', 'assistant.streaming_delta'],
]

/** Whether it is known what an event is, whether it becomes a message or not (README, rule 12). */
export const isKnownEvent = (type: string): boolean => BESIDE_IT.test(type) || OF_CONVERSATION.includes(type)

/** The model that an event selects for the answers after it, empty for "auto" (README, rule 3); undefined for other events. */
export const chosenModel = (json: Json): string | undefined => {
  const data = objectOf(json['data'])
  const model = textOf(modelIn(json['type'], data))
  return model === 'auto' ? '' : model
}

const modelIn = (type: unknown, data: Json): unknown => {
  switch (type) {
    case 'session.start':
    case 'session.resume':
      return data['selectedModel']
    case 'session.model_change':
      return data['newModel']
    case 'session.auto_mode_resolved':
      return data['chosenModel']
    case 'assistant.turn_start':
      return textOf(data['parentToolCallId']) ? undefined : data['model']
    default:
      return undefined
  }
}

/** What the events say about the session itself. */
export type Details = {
  sessionId?: string
  cwd?: string
  branch?: string
  commit?: string
  remote?: string
  /** The model that was selected last, for answers that do not name their model. */
  model?: string
}

const contextOf = (json: Json): Json => {
  const data = objectOf(json['data'])
  return json['type'] === 'session.context_changed' ? data : objectOf(data['context'])
}

/** The address of the repository; the CLI stores its host and name. */
const remoteOf = ({ repository, repositoryHost, hostType }: Json): string | undefined => {
  const host = textOf(repositoryHost) ?? (hostType === 'github' ? 'github.com' : undefined)
  const isName = /^[\w.-]+(\/[\w.-]+)+$/.test(String(repository))
  return host !== undefined && /^[\w.:-]+$/.test(host) && isName ? `https://${host}/${String(repository)}` : undefined
}

const noteContext = (details: Details, context: Json): void => {
  const [cwd, branch, commit] = [context['cwd'], context['branch'], context['headCommit']].map(textOf)
  const remote = remoteOf(context)
  if (cwd) details.cwd ??= cwd
  if (branch) details.branch = branch
  if (commit) details.commit = commit
  if (remote) details.remote = remote
}

/** Notes in `details` what an event says about the session (README, rule 1). */
export const noteDetails = (details: Details, json: Json): void => {
  const data = objectOf(json['data'])
  const sessionId = textOf(data['sessionId'])
  if (json['type'] === 'session.start' && sessionId) details.sessionId ??= sessionId
  if (String(json['type']).startsWith('session.')) noteContext(details, contextOf(json))
  const model = chosenModel(json) || (json['type'] === 'session.shutdown' && textOf(data['currentModel']))
  if (model) details.model = model
}

/** The session's id in the path of its file. */
export const idInPath = (path: string): string =>
  basename(path) === 'events.jsonl' ? basename(dirname(path)) : basename(path, '.jsonl')

/** A larger file is not read: a `workspace.yaml` has some hundred bytes. */
const MAX_BYTES = 1 << 16

/** The index at which a comment begins in a value without quotes, or the length of the value. */
const commentIn = (value: string): number => {
  if (value.startsWith('#')) return 0
  const found = value.search(/\s#/)
  return found === -1 ? value.length : found
}

const unquoted = (value: string): string => {
  if (/^'.*'$/s.test(value)) return value.slice(1, -1).replaceAll("''", "'")
  if (!/^".*"$/s.test(value)) return value.slice(0, commentIn(value))
  try {
    return String(JSON.parse(value))
  } catch {
    return value.slice(1, -1)
  }
}

/** The value of the key `name` in a YAML document. It may continue in indented lines. */
const nameIn = (yaml: string): string | undefined => {
  const lines = yaml.split(/\r?\n/)
  const first = lines.findIndex((line) => /^name:(?:\s|$)/.test(line))
  if (first === -1) return undefined
  const end = lines.findIndex((line, index) => index > first && /^\S/.test(line))
  const [head, ...rest] = lines.slice(first, end === -1 ? undefined : end).map((line) => line.trim())
  const value = head!.slice('name:'.length).trim()
  // A block scalar: all of the value is in the lines below.
  const isBlock = /^[|>][-+\d]*$/.test(value)
  const text = [...(isBlock ? [] : [value]), ...rest].filter((line) => line !== '').join(' ')
  const name = isBlock ? text : unquoted(text)
  return /^(?:~|null)$/i.test(name) && !/^['"]/.test(text) ? undefined : name
}

/** The name of the session whose events are at `path`, from the `workspace.yaml` beside them (README, rule 10). */
export const workspaceName = (path: string): string | undefined => {
  if (basename(path) !== 'events.jsonl') return undefined
  const file = join(dirname(path), 'workspace.yaml')
  try {
    const stats = statSync(file, { throwIfNoEntry: false })
    return stats?.isFile() && stats.size <= MAX_BYTES ? storedTitle(nameIn(readFileSync(file, 'utf8'))) : undefined
  } catch {
    return undefined
  }
}
