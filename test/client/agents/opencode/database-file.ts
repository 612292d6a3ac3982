import { DatabaseSync } from 'node:sqlite'

type Fields = Readonly<Record<string, unknown>>

const SCHEMA = `
  CREATE TABLE project(id text PRIMARY KEY, worktree text NOT NULL, time_created integer, time_updated integer);
  CREATE TABLE session(id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text, directory text NOT NULL,
    title text NOT NULL, version text NOT NULL, share_url text, revert text, time_created integer, time_updated integer);
  CREATE TABLE message(id text PRIMARY KEY, session_id text NOT NULL, time_created integer, time_updated integer, data text NOT NULL);
  CREATE TABLE part(id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer,
    time_updated integer, data text NOT NULL);
  CREATE INDEX message_session_idx ON message(session_id);
  CREATE INDEX part_message_idx ON part(message_id);
  CREATE INDEX part_session_idx ON part(session_id);`

/** A database as opencode makes it, in WAL mode, and open: `close` it. Each change comes one millisecond after the last. */
export const opencodeDatabase = (path: string, schema = SCHEMA) => {
  const database = new DatabaseSync(path)
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; ${schema}`)
  let now = 1_790_000_000_000
  const run = (sql: string, ...values: (string | number | null)[]) => void database.prepare(sql).run(...values)
  /** `worktree` is the root of the repository, `/` without one. */
  const project = (id: string, worktree = '/') =>
    run('INSERT OR REPLACE INTO project VALUES (?, ?, ?, ?)', id, worktree, now, now)
  return {
    database,
    close: () => database.close(),
    project,
    session: (
      id: string,
      {
        title = 'Fix the bug',
        directory = '/w/app',
        parent = null as string | null,
        revert = null as string | null,
      } = {},
    ) =>
      run(
        `INSERT OR REPLACE INTO session(id, project_id, parent_id, directory, title, version, revert, time_created, time_updated)
         VALUES (?, 'p', ?, ?, ?, '1.0', ?, ?, ?)`,
        id,
        parent,
        directory,
        title,
        revert,
        ++now,
        now, // prettier-ignore
      ),
    message: (session: string, id: string, info: Fields | string) => {
      const data = typeof info === 'string' ? info : JSON.stringify({ time: { created: ++now }, ...info })
      run('INSERT OR REPLACE INTO message VALUES (?, ?, ?, ?, ?)', id, session, ++now, now, data)
    },
    /** Makes a fork of a session: new ids, the same times. */
    fork: (origin: string, id: string, title: string) => {
      run(`INSERT INTO session SELECT ?, project_id, NULL, slug, directory, ?, version, NULL, NULL, ?, ? FROM session WHERE id = ?`, id, title, ++now, now, origin) // prettier-ignore
      run(`INSERT INTO message SELECT id || ?, ?, time_created, ?, data FROM message WHERE session_id = ?`, id, id, now, origin) // prettier-ignore
      run(`INSERT INTO part SELECT id || ?, message_id || ?, ?, time_created, ?, data FROM part WHERE session_id = ?`, id, id, id, now, origin) // prettier-ignore
    },
    /** Adds a part, or writes it again in place. */
    part: (session: string, message: string, id: string, part: Fields | string) => {
      const data = typeof part === 'string' ? part : JSON.stringify(part)
      run(
        `INSERT INTO part VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET data = excluded.data, time_updated = excluded.time_updated`,
        id,
        message,
        session,
        ++now,
        now,
        data, // prettier-ignore
      )
    },
    run,
  }
}

export const userInfo = { role: 'user', agent: 'build', model: { providerID: 'anthropic', modelID: 'claude' } }

export const answerInfo = { role: 'assistant', providerID: 'anthropic', modelID: 'claude-sonnet', path: { cwd: '/w' } }

export const text = (value: string, more: Fields = {}) => ({ type: 'text', text: value, ...more })

/** A call of a tool in a state: `status` and what goes with it. */
export const tool = (callID: string, name: string, state: Fields) => ({
  type: 'tool',
  callID,
  tool: name,
  state: { input: { command: 'ls' }, ...state },
})
