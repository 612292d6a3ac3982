import { basename, dirname, join } from 'node:path'
import type { Agent, SessionMessage } from '../agent.ts'
import { acceptedId } from '../support/external-ids.ts'
import { objectsOf, sessionPerFile } from '../support/files.ts'
import type { Json } from '../support/json.ts'
import { type LineParser, noMessages, type Start } from '../support/line-parser.ts'
import type { ObjectLine } from '../support/lines.ts'
import { sessionOfLines } from '../support/session-of-lines.ts'
import { newOutline, type Outline, traceFieldsOf } from '../support/trace-fields.ts'
import { newReading, type Reading, readLine } from './messages.ts'
import { type Details, idInPath, isEvent, isKnownEvent, noteDetails, workspaceName } from './session.ts'

const id = 'copilot-cli'

type State = { readonly details: Details; readonly outline: Outline; readonly reading: Reading }

const start = ({ ahead }: Start<State>): State => ({
  details: {},
  outline: newOutline(),
  reading: newReading(ahead !== undefined),
})

const step = ({ details, outline, reading }: State, line: ObjectLine): readonly SessionMessage[] => {
  noteDetails(details, line.json)
  const message = readLine(reading, line)
  if (!message) return noMessages
  outline.note(message)
  return [message]
}

/** Reads the events of a session (README). */
const parser: LineParser<State> = {
  understands: isEvent,
  unknownIn: ({ type }) => (isKnownEvent(String(type)) ? [] : [type]),
  start,
  step,
  describe: ({ details, outline }, path) => ({
    externalId: acceptedId(details.sessionId ?? idInPath(path), 'session'),
    trace: traceFieldsOf(id, {
      title: workspaceName(path) ?? outline.title(),
      projectPath: details.cwd,
      model: outline.model() ?? details.model,
      gitBranch: details.branch,
      gitRef: details.commit,
      gitRemoteUrl: details.remote,
    }),
  }),
}

const ROOT = 'session-state'
const EVENTS = 'events.jsonl'

/** Not every `.jsonl` file: a session's folder also holds files that the agent works on. */
const isSessionFile = (path: string): boolean => {
  const folder = dirname(path)
  if (basename(folder) === ROOT) return path.endsWith('.jsonl')
  return basename(path) === EVENTS && basename(dirname(folder)) === ROOT
}

const isRecognised = (json: Json): boolean =>
  isEvent(json) && typeof json['id'] === 'string' && typeof json['timestamp'] === 'string'

/**
 * Copilot CLI stores sessions as `session-state/<id>/events.jsonl`, older versions as `session-state/<id>.jsonl`; `README.md`
 * describes how they are read. Raise `version` when the same file gives other messages than before.
 */
export const copilotCli: Agent = {
  id,
  name: 'Copilot CLI',
  version: 4,
  roots: (env, home) => [join(env['COPILOT_HOME'] || join(home, '.copilot'), ROOT)],
  isSessionFile,
  extensions: ['.jsonl'],
  recognises: (_path, beginning) => objectsOf(beginning).some(isRecognised),
  readWith: (path, files) => {
    const events = join(dirname(path), basename(path, '.jsonl'), EVENTS)
    return basename(path) !== EVENTS && files.has(events) ? events : undefined
  },
  sessions: sessionPerFile(sessionOfLines(parser), workspaceName),
}
