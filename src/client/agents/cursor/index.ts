import { sep } from 'node:path'
import type { Agent } from '../agent.ts'
import { beginsLikeDatabase } from '../support/sqlite/snapshot.ts'
import { composerSessions } from './composers.ts'
import { chatsIn, databasesIn, PROJECT_OF_CHATS, transcripts } from './places.ts'
import { storeSessions } from './stores.ts'
import { newTranscriptSessions, readWith } from './transcripts.ts'

const id = 'cursor'
const transcriptSessions = newTranscriptSessions(id)

const isTranscript = (path: string): boolean =>
  /[\\/]agent-transcripts[\\/]/.test(path) && /\.(?:jsonl|txt)$/.test(path)

const DATABASE = /[\\/]globalStorage[\\/]state\.vscdb$/

const STORE = /[\\/]store\.db$/

/** Searches only the command line tool's folders of sessions, and folders of transcripts. */
const isSkipped = (path: string): boolean => {
  const [first = '', ...below] = path.split(sep)
  if (PROJECT_OF_CHATS.test(first)) return below.length > 1
  return below.length === 1 && below[0] !== 'agent-transcripts'
}

const sessionsOf = (path: string) => {
  if (path.endsWith('.vscdb')) return composerSessions(id, path)
  return path.endsWith('.db') ? storeSessions(id, path) : transcriptSessions(path)
}

const looksLike = (path: string, beginning: string): boolean => {
  if (path.endsWith('.vscdb'))
    return beginsLikeDatabase(beginning) && (DATABASE.test(path) || beginning.includes('cursorDiskKV'))
  if (path.endsWith('.db')) return beginsLikeDatabase(beginning, 'blobs', 'meta')
  if (path.endsWith('.txt')) return isTranscript(path) && /^[ \t]*(?:user|assistant):[ \t\r]*$/m.test(beginning)
  return isTranscript(path) || /^\s*\{\s*"role"\s*:\s*"(?:user|assistant)"\s*,\s*"message"\s*:/.test(beginning)
}

/**
 * Cursor stores sessions in databases, and transcripts of them as files; `README.md` describes how they are read. Raise `version`
 * when the same session gives other messages than before.
 */
export const cursor: Agent = {
  id,
  name: 'Cursor',
  version: 3,
  roots: (env, home) => [...databasesIn(env, home), transcripts(home), ...chatsIn(env, home)],
  skipsFolder: isSkipped,
  isSessionFile: (path) => isTranscript(path) || DATABASE.test(path) || STORE.test(path),
  extensions: ['.vscdb', '.db', '.jsonl', '.txt'],
  recognises: looksLike,
  readWith,
  sessions: sessionsOf,
}
