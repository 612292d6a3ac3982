import { hashOf } from '../agents/support/hashed-map.ts'
import type { Database } from '../agents/support/sqlite/load.ts'
import { type StateFile, transaction } from './state-file.ts'

/**
 * What was sent of a session. `sessionId` is the session's own id, `externalId` that of its trace, `stored` whether the trace
 * exists. `fields` holds digests of the trace's fields that the server acknowledged. `stamp` is that of the last complete
 * upload; undefined after one that was interrupted.
 */
export type SessionState = {
  readonly source: string
  readonly sessionId: string
  readonly externalId: string
  readonly stored: boolean
  readonly stamp?: string | undefined
  readonly fields: ReadonlyMap<string, string>
}

/** A message that the server has stored, and the digest of its text. */
export type StoredMessage = { readonly externalId: string; readonly digest: Uint8Array }

/** What was sent to one namespace of one service. Every function reads or writes the file at once. */
export type SessionStates = {
  /** The log that all of it was sent to; undefined where it is not known. */
  readonly logId: () => string | undefined
  readonly read: (source: string) => SessionState | undefined
  /** All but the messages, which are forgotten with what `complete` was given where the source holds another session now. */
  readonly write: (state: SessionState) => void
  /** Gives the digest of a message by its id, as it was acknowledged. */
  readonly digests: (source: string) => (externalId: string) => Uint8Array | undefined
  readonly acknowledge: (source: string, messages: readonly StoredMessage[]) => void
  /** Notes that all of a session was sent. `resume`: a text to go on reading from, where there is one. */
  readonly complete: (state: SessionState, resume: string | undefined) => void
  readonly resume: (source: string) => string | undefined
}

const statementsOf = (database: Database) => ({
  database,
  log: database.prepare('SELECT log FROM destination WHERE id = ?'),
  read: database.prepare(
    'SELECT session, trace, stored, stamp, fields FROM session WHERE destination = ? AND source = ?',
  ),
  id: database.prepare('SELECT id, session FROM session WHERE destination = ? AND source = ?'),
  // Nothing is written once the destination is gone: another process has found that its log is gone.
  insert: database.prepare(
    'INSERT INTO session (destination, source, session, trace, stored, stamp, fields) ' +
      'SELECT id, ?, ?, ?, ?, ?, ? FROM destination WHERE id = ?',
  ),
  update: database.prepare('UPDATE session SET trace = ?, stored = ?, stamp = ?, fields = ? WHERE id = ?'),
  remove: database.prepare('DELETE FROM session WHERE id = ?'),
  digest: database.prepare(
    'SELECT digest FROM message WHERE id = ? AND session = (SELECT id FROM session WHERE destination = ? AND source = ?)',
  ),
  acknowledge: database.prepare('INSERT OR REPLACE INTO message (session, id, digest) VALUES (?, ?, ?)'),
  setResume: database.prepare('UPDATE session SET resume = ? WHERE destination = ? AND source = ?'),
  resume: database.prepare('SELECT resume FROM session WHERE destination = ? AND source = ?'),
})

export type Statements = ReturnType<typeof statementsOf>
export const sessionStatements = statementsOf

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const write = (statements: Statements, destination: number, state: SessionState): void => {
  const { source, sessionId, externalId, stored, stamp = null } = state
  const [fields, isStored] = [JSON.stringify([...state.fields]), stored ? 1 : 0]
  const found = statements.id.get(destination, source)
  if (found && found['session'] === sessionId)
    return void statements.update.run(externalId, isStored, stamp, fields, found['id']!)
  if (found) statements.remove.run(found['id']!)
  statements.insert.run(source, sessionId, externalId, isStored, stamp, fields, destination)
}

const acknowledge = (
  statements: Statements,
  destination: number,
  source: string,
  messages: readonly StoredMessage[],
): void =>
  transaction(statements.database, () => {
    const found = statements.id.get(destination, source)
    if (!found) return
    for (const { externalId, digest } of messages) statements.acknowledge.run(found['id']!, hashOf(externalId), digest)
  })

/** The states of one destination, whose id `idOf` gives. */
export const newSessionStates = <Prepared extends { readonly sessions: Statements }>(
  file: StateFile<Prepared>,
  idOf: (prepared: Prepared) => number,
): SessionStates => {
  const on = <T>(work: (statements: Statements, destination: number) => T): T =>
    file.use((prepared) => work(prepared.sessions, idOf(prepared)))
  return {
    logId: () => on(({ log }, destination) => textOf(log.get(destination)?.['log'])),
    read: (source) =>
      on(({ read }, destination) => {
        const found = read.get(destination, source)
        return (
          found && {
            source,
            sessionId: String(found['session']),
            externalId: String(found['trace']),
            stored: found['stored'] === 1,
            stamp: textOf(found['stamp']),
            fields: new Map(JSON.parse(String(found['fields'])) as [string, string][]),
          }
        )
      }),
    write: (state) =>
      on((statements, destination) => transaction(statements.database, () => write(statements, destination, state))),
    digests: (source) => {
      const id = on((statements, destination) => statements.id.get(destination, source)?.['id'])
      if (id === undefined) return () => undefined
      return (externalId) =>
        on(({ digest }, destination) => {
          const found = digest.get(hashOf(externalId), destination, source)
          return found?.['digest'] as Uint8Array | undefined
        })
    },
    acknowledge: (source, messages) =>
      on((statements, destination) => acknowledge(statements, destination, source, messages)),
    complete: (state, resume) =>
      on((statements, destination) =>
        transaction(statements.database, () => {
          write(statements, destination, state)
          statements.setResume.run(resume ?? null, destination, state.source)
        }),
      ),
    resume: (source) => on(({ resume }, destination) => textOf(resume.get(destination, source)?.['resume'])),
  }
}

/** Nothing is remembered. */
export const noStates: SessionStates = {
  logId: () => undefined,
  read: () => undefined,
  write: () => {},
  digests: () => () => undefined,
  acknowledge: () => {},
  complete: () => {},
  resume: () => undefined,
}
