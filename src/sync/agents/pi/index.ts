import { basename, join } from 'node:path'
import type { Agent } from '../agent.ts'
import { objectsOf } from '../support/beginning.ts'
import { acceptedId } from '../support/external-ids.ts'
import { type ReadSessionFile, sessionPerFile } from '../support/file-session.ts'
import type { Json } from '../support/json.ts'
import { objectLines } from '../support/lines.ts'
import { countSkipped } from '../support/skipped-lines.ts'
import { traceFieldsOf } from '../support/trace-fields.ts'
import { messagesOf } from './messages.ts'
import { readOutline } from './outline.ts'

const id = 'pi'

/** The session's id in the name of its file, `<time>_<id>.jsonl`. */
const idInName = (path: string): string => {
  const name = basename(path, '.jsonl')
  return name.slice(name.indexOf('_') + 1) || name
}

const readSession: ReadSessionFile = async (path, { size, onMalformed }) => {
  const skipped = countSkipped(onMalformed)
  const again = () => objectLines(path, size, () => {})
  const lines = objectLines(path, size, skipped.onMalformed)
  const { sessionId, projectPath, title, model, isOnPath } = await readOutline(lines, again)
  return {
    externalId: acceptedId(sessionId ?? idInName(path), 'session'),
    trace: traceFieldsOf(id, { title, projectPath, model }),
    skippedLines: skipped.lines,
    messages: () => messagesOf(again(), isOnPath),
  }
}

const isHeader = ({ type, id, timestamp, cwd }: Json): boolean =>
  type === 'session' && [id, timestamp, cwd].every((value) => typeof value === 'string')

/**
 * pi stores sessions as `<root>/--<cwd>--/<time>_<id>.jsonl`; `README.md` describes how they are read. Raise `version` when the
 * same file gives other messages than before.
 */
export const pi: Agent = {
  id,
  name: 'pi',
  version: 1,
  roots: (env, home) => {
    const agentDir = env['PI_CODING_AGENT_DIR'] || join(home, '.pi', 'agent')
    const other = env['PI_CODING_AGENT_SESSION_DIR']
    return [join(agentDir, 'sessions'), ...(other ? [other] : [])]
  },
  isSessionFile: (path) => path.endsWith('.jsonl'),
  extensions: ['.jsonl'],
  recognises: (_path, beginning) => objectsOf(beginning).some(isHeader),
  sessions: sessionPerFile(readSession),
}
