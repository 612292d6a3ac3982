import { join } from 'node:path'
import type { Agent } from '../agent.ts'
import { type ReadSessionFile, sessionPerFile } from '../support/file-session.ts'
import { countSkipped } from '../support/skipped-lines.ts'
import { entries } from './entries.ts'
import { messagesOf } from './messages.ts'
import { externalIdOf, readOutline, traceFields } from './outline.ts'

const id = 'claude-code'

const readSession: ReadSessionFile = async (path, { size, onMalformed }) => {
  const uuids = new Set<string>()
  const skipped = countSkipped(onMalformed)
  const outline = await readOutline(entries(path, size, skipped.onMalformed, uuids))
  return {
    externalId: externalIdOf(path, outline),
    trace: traceFields(id, outline, uuids),
    skippedLines: skipped.count(),
    messages: () =>
      messagesOf(
        entries(path, size, () => {}),
        outline.lastLineOf,
      ),
  }
}

/**
 * Claude Code stores sessions as `<root>/<encoded cwd>/<session id>.jsonl`, and sub-agents as `agent-<id>.jsonl`; `README.md`
 * describes how they are read. Raise `version` when the same file gives other messages than before. Its lines have nothing
 * that all of them share, so that any file of JSON lines which no other agent recognises counts as one of its sessions.
 */
export const claudeCode: Agent = {
  id,
  name: 'Claude Code',
  version: 1,
  roots: (env, home) => [join(env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'), 'projects')],
  isSessionFile: (path) => path.endsWith('.jsonl'),
  extensions: ['.jsonl'],
  recognises: () => true,
  sessions: sessionPerFile(readSession),
}
