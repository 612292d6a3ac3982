import { sep } from 'node:path'
import type { Agent } from '../agent.ts'
import { composerSessions } from './composers.ts'
import { databasesIn, transcripts } from './places.ts'
import { isSuperseded, newTranscriptSessions } from './transcripts.ts'

const id = 'cursor'
const version = 1

const transcriptSessions = newTranscriptSessions(id, version)

const isTranscript = (path: string): boolean =>
  /[\\/]agent-transcripts[\\/]/.test(path) && /\.(?:jsonl|txt)$/.test(path)

const DATABASE = /[\\/]globalStorage[\\/]state\.vscdb$/

const looksLike = (path: string, beginning: string): boolean => {
  if (path.endsWith('.vscdb'))
    return beginning.startsWith('SQLite format 3\0') && (DATABASE.test(path) || beginning.includes('cursorDiskKV'))
  if (path.endsWith('.txt')) return isTranscript(path) && /^[ \t]*(?:user|assistant):[ \t\r]*$/m.test(beginning)
  return isTranscript(path) || /^\s*\{\s*"role"\s*:\s*"(?:user|assistant)"\s*,\s*"message"\s*:/.test(beginning)
}

/**
 * Cursor stores sessions in a database, and transcripts of them as files; `README.md` describes how they are read. Raise
 * `version` when the same session gives other messages than before.
 */
export const cursor: Agent = {
  id,
  name: 'Cursor',
  version,
  roots: (env, home) => [...databasesIn(env, home), transcripts(home)],
  skipsFolder: (path) => path.split(sep).length === 2 && !path.endsWith(`${sep}agent-transcripts`),
  isSessionFile: (path) => isTranscript(path) || DATABASE.test(path),
  extensions: ['.vscdb', '.jsonl', '.txt'],
  recognises: looksLike,
  isSuperseded,
  sessions: (path) => (path.endsWith('.vscdb') ? composerSessions(id, path) : transcriptSessions(path)),
}
