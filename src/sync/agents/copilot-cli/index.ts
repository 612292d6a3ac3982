import { basename, dirname, join } from 'node:path'
import type { Agent } from '../agent.ts'
import { objectsOf, sessionPerFile } from '../support/files.ts'
import type { Json } from '../support/json.ts'
import { sessionOfLines } from '../support/session-of-lines.ts'
import { parserOf } from './parser.ts'
import { isEvent, workspaceName } from './session.ts'

const id = 'copilot-cli'
const ROOT = 'session-state'
const EVENTS = 'events.jsonl'
const version = 2

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
  version,
  roots: (env, home) => [join(env['COPILOT_HOME'] || join(home, '.copilot'), ROOT)],
  isSessionFile,
  extensions: ['.jsonl'],
  recognises: (_path, beginning) => objectsOf(beginning).some(isRecognised),
  isSuperseded: (path, files) =>
    basename(path) !== EVENTS && files.has(join(dirname(path), basename(path, '.jsonl'), EVENTS)),
  sessions: sessionPerFile(sessionOfLines(parserOf(id, version)), workspaceName),
}
