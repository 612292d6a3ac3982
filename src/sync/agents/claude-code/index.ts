import { join } from 'node:path'
import type { Agent } from '../agent.ts'
import { sessionPerFile } from '../support/file-session.ts'
import { sessionOfLines } from '../support/session-of-lines.ts'
import { parserOf } from './parser.ts'

const id = 'claude-code'

const version = 1

/**
 * Claude Code stores sessions as `<root>/<encoded cwd>/<session id>.jsonl`, and sub-agents as `agent-<id>.jsonl`; `README.md`
 * describes how they are read. Raise `version` when the same file gives other messages than before. Its lines have nothing
 * that all of them share, so that any file of JSON lines which no other agent recognises counts as one of its sessions.
 */
export const claudeCode: Agent = {
  id,
  name: 'Claude Code',
  version,
  roots: (env, home) => [join(env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'), 'projects')],
  isSessionFile: (path) => path.endsWith('.jsonl'),
  extensions: ['.jsonl'],
  recognises: () => true,
  sessions: sessionPerFile(sessionOfLines(parserOf(id, version))),
}
