import { join } from 'node:path'
import type { Agent, Session } from './agent.ts'
import { entries } from './claude-code/entries.ts'
import { messagesOf } from './claude-code/messages.ts'
import { externalIdOf, outlineOf, traceFields } from './claude-code/outline.ts'

const id = 'claude-code'

const read: Agent['read'] = async (path, { size, malformed }): Promise<Session> => {
  let skippedLines = 0
  const uuids = new Set<string>()
  const skipped = (line: number) => {
    skippedLines++
    malformed(line)
  }
  const outline = await outlineOf(entries(path, size, skipped, uuids))
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
 * Claude Code: `<root>/<encoded cwd>/<session id>.jsonl`, sub-agents in `agent-<id>.jsonl`, read as
 * `claude-code/README.md` says. Raise `version` when the same file gives other messages than before.
 */
export const claudeCode: Agent = {
  id,
  version: 1,
  roots: (env, home) => [join(env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'), 'projects')],
  owns: (path) => path.endsWith('.jsonl'),
  read,
}
