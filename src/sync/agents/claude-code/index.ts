import type { Agent } from '../agent.ts'
import { objectsOf } from '../support/beginning.ts'
import { sessionPerFile } from '../support/file-session.ts'
import { linesOf } from '../support/lines.ts'
import { sessionOfLines } from '../support/session-of-lines.ts'
import { keptDays } from './cleanup.ts'
import { beginsLikeLine, isKnownLine } from './known-lines.ts'
import { parserOf } from './parser.ts'
import { isSessionFile, sessionFolders, skipsFolder } from './places.ts'
import { usedBytes } from './used-bytes.ts'

const id = 'claude-code'

const version = 2

/**
 * Claude Code stores sessions as `<root>/<encoded cwd>/<session id>.jsonl`, and sub-agents as `agent-<id>.jsonl`; `README.md`
 * describes how they are read. Raise `version` when the same file gives other messages than before. Its lines have nothing
 * that all of them share: a file in another folder is told by the fields of any of its first ones.
 */
export const claudeCode: Agent = {
  id,
  name: 'Claude Code',
  version,
  roots: sessionFolders,
  skipsFolder,
  isSessionFile,
  extensions: ['.jsonl'],
  recognises: (_path, beginning) => objectsOf(beginning).some(isKnownLine) || beginsLikeLine(beginning),
  keptDays,
  sessions: sessionPerFile(sessionOfLines(parserOf(id, version), linesOf(usedBytes))),
}
