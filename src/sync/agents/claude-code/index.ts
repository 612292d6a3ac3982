import { join } from 'node:path'
import type { Agent, SessionFile } from '../agent.ts'
import { entries } from './entries.ts'
import { messagesOf } from './messages.ts'
import { externalIdOf, readOutline, traceFields } from './outline.ts'

const id = 'claude-code'

const readSession: Agent['readSession'] = async (path, { size, onMalformed }): Promise<SessionFile> => {
  let skippedLines = 0
  const uuids = new Set<string>()
  const countMalformed = (line: number) => {
    skippedLines++
    onMalformed(line)
  }
  const outline = await readOutline(entries(path, size, countMalformed, uuids))
  return {
    externalId: externalIdOf(path, outline),
    trace: traceFields(id, outline, uuids),
    skippedLines,
    messages: () =>
      messagesOf(
        entries(path, size, () => {}),
        outline.lastLineOf,
      ),
  }
}

/**
 * Claude Code stores sessions as `<root>/<encoded cwd>/<session id>.jsonl`, and sub-agents as `agent-<id>.jsonl`;
 * `README.md` describes how they are read. Raise `version` when the same file gives other messages than before.
 */
export const claudeCode: Agent = {
  id,
  version: 1,
  roots: (env, home) => [join(env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'), 'projects')],
  isSessionFile: (path) => path.endsWith('.jsonl'),
  readSession,
}
