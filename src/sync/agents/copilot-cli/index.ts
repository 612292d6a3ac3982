import { basename, dirname, join } from 'node:path'
import type { Agent } from '../agent.ts'
import { objectsOf } from '../support/beginning.ts'
import { acceptedId, noMessageIds } from '../support/external-ids.ts'
import { type ReadSessionFile, sessionPerFile } from '../support/file-session.ts'
import { isObject, type Json } from '../support/json.ts'
import { objectLines } from '../support/lines.ts'
import { newOutline } from '../support/outline.ts'
import { countSkipped } from '../support/skipped-lines.ts'
import { traceFieldsOf } from '../support/trace-fields.ts'
import { messagesOf } from './messages.ts'
import { type Details, idInPath, noting } from './session.ts'

const id = 'copilot-cli'
const ROOT = 'session-state'
const EVENTS = 'events.jsonl'

const readSession: ReadSessionFile = async (path, { size, onMalformed }) => {
  const skipped = countSkipped(onMalformed)
  const details: Details = {}
  const outline = newOutline()
  const lines = noting(details, objectLines(path, size, skipped.onMalformed))
  for await (const message of messagesOf(lines, noMessageIds)) outline.note(message)
  return {
    externalId: acceptedId(details.sessionId ?? idInPath(path), 'session'),
    trace: traceFieldsOf(id, {
      title: outline.title(),
      projectPath: details.cwd,
      model: outline.model() ?? details.model,
      gitBranch: details.branch,
      gitRef: details.commit,
      gitRemoteUrl: details.remote,
    }),
    skippedLines: skipped.lines,
    messages: () => messagesOf(objectLines(path, size, () => {})),
  }
}

/** A session's folder also holds files that the agent works on, which are none of its sessions. */
const isSessionFile = (path: string): boolean => {
  const folder = dirname(path)
  if (basename(folder) === ROOT) return path.endsWith('.jsonl')
  return basename(path) === EVENTS && basename(dirname(folder)) === ROOT
}

const isEvent = ({ type, data, id, timestamp }: Json): boolean =>
  /^(session|user|assistant|tool|system|subagent|hook)\.\w/.test(String(type)) &&
  isObject(data) &&
  typeof id === 'string' &&
  typeof timestamp === 'string'

/**
 * Copilot CLI stores sessions as `session-state/<id>/events.jsonl`, older versions as `session-state/<id>.jsonl`; `README.md`
 * describes how they are read. Raise `version` when the same file gives other messages than before.
 */
export const copilotCli: Agent = {
  id,
  name: 'Copilot CLI',
  version: 1,
  roots: (env, home) => [join(env['COPILOT_HOME'] || join(home, '.copilot'), ROOT)],
  isSessionFile,
  extensions: ['.jsonl'],
  recognises: (_path, beginning) => objectsOf(beginning).some(isEvent),
  isSuperseded: (path, files) =>
    basename(path) !== EVENTS && files.has(join(dirname(path), basename(path, '.jsonl'), EVENTS)),
  sessions: sessionPerFile(readSession),
}
