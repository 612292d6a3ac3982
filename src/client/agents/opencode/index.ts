import { isAbsolute, join, sep } from 'node:path'
import type { Agent } from '../agent.ts'
import { beginsLikeDatabase } from '../support/sqlite/snapshot.ts'
import { databaseSessions } from './database.ts'
import { fileSessions } from './files.ts'

const id = 'opencode'

const DATABASE = /(?:^|[\\/])opencode(?:-[\w.-]+)?\.db$/
const SESSION_FILE = /[\\/]session[\\/][^\\/]+[\\/][^\\/]+\.json$/

/** The folders below the data folder that hold session files. Other folders hold snapshots, logs, messages and parts. */
const isSearched = (path: string): boolean => {
  const [storage, session, ...project] = path.split(sep)
  return storage === 'storage' && (session ?? 'session') === 'session' && project.length <= 1
}

/**
 * opencode stores sessions in a database, formerly in files; `README.md` describes how they are read. Raise `version` when the
 * same session gives other messages than before.
 */
export const opencode: Agent = {
  id,
  name: 'opencode',
  version: 4,
  roots: ({ XDG_DATA_HOME, OPENCODE_DB }, home) => {
    const data = join(XDG_DATA_HOME || join(home, '.local', 'share'), 'opencode')
    if (!OPENCODE_DB || OPENCODE_DB === ':memory:') return [data]
    return [data, isAbsolute(OPENCODE_DB) ? OPENCODE_DB : join(data, OPENCODE_DB)]
  },
  skipsFolder: (path) => !isSearched(path),
  isSessionFile: (path) => DATABASE.test(path) || SESSION_FILE.test(path),
  extensions: ['.db', '.json'],
  recognises: (path, beginning) =>
    path.endsWith('.db')
      ? beginsLikeDatabase(beginning, ...(DATABASE.test(path) ? [] : ['session', 'message', 'part']))
      : SESSION_FILE.test(path) && /"projectID"\s*:/.test(beginning) && /"directory"\s*:/.test(beginning),
  sessions: (path) => (path.endsWith('.json') ? fileSessions(id, path) : databaseSessions(id, path)),
}
