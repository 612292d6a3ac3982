import { join } from 'node:path'
import type { Agent } from '../agent.ts'
import { objectsOf, sessionPerFile } from '../support/files.ts'
import type { Json } from '../support/json.ts'
import { sessionOfLines } from '../support/session-of-lines.ts'
import { parserOf } from './parser.ts'

const id = 'pi'

const version = 2

const isHeader = ({ type, id, timestamp, cwd }: Json): boolean =>
  type === 'session' && [id, timestamp, cwd].every((value) => typeof value === 'string')

/**
 * pi stores sessions as `<root>/--<cwd>--/<time>_<id>.jsonl`; `README.md` describes how they are read. Raise `version` when the
 * same file gives other messages than before.
 */
export const pi: Agent = {
  id,
  name: 'pi',
  version,
  roots: (env, home) => {
    const agentDir = env['PI_CODING_AGENT_DIR'] || join(home, '.pi', 'agent')
    const other = env['PI_CODING_AGENT_SESSION_DIR']
    return [join(agentDir, 'sessions'), ...(other ? [other] : [])]
  },
  isSessionFile: (path) => path.endsWith('.jsonl'),
  extensions: ['.jsonl'],
  recognises: (_path, beginning) => objectsOf(beginning).some(isHeader),
  sessions: sessionPerFile(sessionOfLines(parserOf(id, version))),
}
