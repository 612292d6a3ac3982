import { basename, dirname } from 'node:path'
import { isObject, type Json, objectOf, textOf } from '../support/json.ts'

/** Whether a line is an event of a kind that the CLI writes. */
export const isEvent = ({ type, data }: Json): boolean =>
  /^(session|user|assistant|tool|system|subagent|hook)\.\w/.test(String(type)) && isObject(data)

/** The model that an event chooses for the answers after it, empty for none (README, rule 3); undefined for other events. */
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

/** What the events say of the session itself, as plain JSON. */
export type Details = {
  sessionId?: string
  cwd?: string
  branch?: string
  commit?: string
  remote?: string
  /** The model that was chosen last, for a session without an answer that tells its own. */
  model?: string
}

const contextOf = (json: Json): Json => {
  const data = objectOf(json['data'])
  return json['type'] === 'session.context_changed' ? data : objectOf(data['context'])
}

/** The address of the repository, of which the CLI stores host and name. */
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

/** Notes in `details` what an event says of the session (README, rule 1). */
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
