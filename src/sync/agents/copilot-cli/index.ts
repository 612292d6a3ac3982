import { basename, dirname, join } from 'node:path'
import type { Agent } from '../agent.ts'
import { objectsOf } from '../support/beginning.ts'
import { sessionPerFile } from '../support/file-session.ts'
import type { Json } from '../support/json.ts'
import { sessionOfLines } from '../support/session-of-lines.ts'
import { parserOf } from './parser.ts'
import { isEvent } from './session.ts'
import { workspaceName } from './workspace.ts'

const id = 'copilot-cli'
const ROOT = 'session-state'
const EVENTS = 'events.jsonl'
const version = 2

const filesOf = sessionPerFile(sessionOfLines(parserOf(id, version)))

/** The stamp of a session changes with its name too, which is in another file. */
const sessions: Agent['sessions'] = async function* (path) {
  const name = workspaceName(path)
  for await (const session of filesOf(path))
    yield name === undefined ? session : { ...session, stamp: `${session.stamp} ${name}` }
}

/** A session's folder also holds files that the agent works on, which are none of its sessions. */
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
  sessions,
}
