import type { Agent } from '../agent.ts'
import { objectsOf, sessionPerFile } from '../support/files.ts'
import { linesInParts } from '../support/lines.ts'
import { sessionOfLines } from '../support/session-of-lines.ts'
import { isSessionFile, keptDays, sessionFolders, skipsFolder } from './places.ts'
import { beginsLikeLine, isKnownLine } from './known-lines.ts'
import { parserOf } from './parser.ts'
import { usedBytes } from './used-bytes.ts'

const id = 'claude-code'

const version = 2

/**
 * Claude Code stores sessions as `<root>/<encoded cwd>/<session id>.jsonl`, and sub-agents as `agent-<id>.jsonl`; `README.md`
 * describes how they are read. Raise `version` when the same file gives other messages than before. No field is common to all
 * lines, so a file in another folder is recognised by the fields of any of its first lines.
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
  sessions: sessionPerFile(sessionOfLines(parserOf(id, version), linesInParts(usedBytes))),
}
