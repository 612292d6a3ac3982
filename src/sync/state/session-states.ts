import { hashOf } from '../agents/support/hashed-map.ts'
import type { Database } from '../agents/support/sqlite/load.ts'
import { type StateFile, transaction } from './state-file.ts'

/** A session by its agent and its own id: the same one wherever its file is. */
export type SessionKey = { readonly agentId: string; readonly sessionId: string }

/** Whether the service has a session's trace: not yet, or it was sent, or the service has said that it was deleted. */
type TraceStatus = 'new' | 'stored' | 'deleted'

/**
 * What was sent of a session. `externalId` is the id of its trace. `fields` holds digests of
 * the trace's fields that the server acknowledged. `sentFrom` is the source that all of it was sent from last.
 */
export type SentSession = SessionKey & {
  readonly externalId: string
  readonly status: TraceStatus
  readonly fields: ReadonlyMap<string, string>
  readonly sentFrom?: string | undefined
}

/** What was sent of the session that a source held; `stamp` is that of its last complete upload, undefined after one that was interrupted. */
export type SessionState = SentSession & { readonly source: string; readonly stamp?: string | undefined }

/** A message that the server has stored, and the digest of its text. */
export type StoredMessage = { readonly externalId: string; readonly digest: Uint8Array }

/** What was sent to one namespace of one service. Every function reads or writes the file at once. */
export type SessionStates = {
  /** False once another process has found that what was sent to the service is lost: then nothing is noted here any more. */
  readonly isKept: () => boolean
  /** The log that all of it was sent to; undefined if it is not known. */
  readonly logId: () => string | undefined
  /** The position of the last write that the service has acknowledged, in any of its namespaces. */
  readonly lastWrite: () => string | undefined
  readonly noteWrite: (position: string | undefined) => void
  readonly read: (source: string) => SessionState | undefined
  readonly find: (session: SessionKey) => SentSession | undefined
  /** Writes everything but the messages and `sentFrom`. If the source now holds another session, what `complete` has noted for it is forgotten. */
  readonly write: (state: SessionState) => void
  /** Gives the digest of a message by its id, as it was acknowledged. */
  readonly digests: (session: SessionKey) => (externalId: string) => Uint8Array | undefined
  readonly acknowledge: (session: SessionKey, messages: readonly StoredMessage[]) => void
  /** How many messages were acknowledged. */
  readonly count: (session: SessionKey) => number
  readonly forget: (session: SessionKey) => void
  /** Notes that all of a session was sent from its source. `resume`: a text to continue reading from, if there is one. */
  readonly complete: (state: SessionState, resume: string | undefined) => void
  readonly resume: (source: string) => string | undefined
}

const OF_SESSION = 'destination = ? AND agent = ? AND session = ?'

const statementsOf = (database: Database) => ({
  database,
  isKept: database.prepare('SELECT 1 FROM destination WHERE id = ?'),
  log: database.prepare('SELECT log FROM destination WHERE id = ?'),
  lastWrite: database.prepare('SELECT position FROM last_write JOIN destination USING (server) WHERE id = ?'),
  noteWrite: database.prepare(
    'INSERT OR REPLACE INTO last_write (server, position) SELECT server, ? FROM destination WHERE id = ?',
  ),
  read: database.prepare(
    'SELECT agent, session.session, trace, status, fields, sent_from, source.source, stamp ' +
      'FROM source JOIN session ON session.id = source.session WHERE source.destination = ? AND source.source = ?',
  ),
  find: database.prepare(`SELECT agent, session, trace, status, fields, sent_from FROM session WHERE ${OF_SESSION}`),
  id: database.prepare(`SELECT id FROM session WHERE ${OF_SESSION}`),
  // Nothing is written once the destination is gone: another process has found that its log is gone.
  write: database.prepare(
    'INSERT INTO session (destination, agent, session, trace, status, fields) ' +
      'SELECT id, ?, ?, ?, ?, ? FROM destination WHERE id = ? ' +
      'ON CONFLICT DO UPDATE SET trace = excluded.trace, status = excluded.status, fields = excluded.fields',
  ),
  writeSource: database.prepare(
    'INSERT INTO source (destination, source, session, stamp) VALUES (?, ?, ?, ?) ' +
      'ON CONFLICT DO UPDATE SET session = excluded.session, stamp = excluded.stamp, ' +
      'resume = iif(session = excluded.session, resume, NULL)',
  ),
  digest: database.prepare(
    `SELECT digest FROM message WHERE id = ? AND session = (SELECT id FROM session WHERE ${OF_SESSION})`,
  ),
  acknowledge: database.prepare('INSERT OR REPLACE INTO message (session, id, digest) VALUES (?, ?, ?)'),
  forget: database.prepare(`DELETE FROM session WHERE ${OF_SESSION}`),
  count: database.prepare(
    `SELECT count(*) AS count FROM message WHERE session = (SELECT id FROM session WHERE ${OF_SESSION})`,
  ),
  setSentFrom: database.prepare(`UPDATE session SET sent_from = ? WHERE ${OF_SESSION}`),
  setResume: database.prepare('UPDATE source SET resume = ? WHERE destination = ? AND source = ?'),
  resume: database.prepare('SELECT resume FROM source WHERE destination = ? AND source = ?'),
})

type Statements = ReturnType<typeof statementsOf>
export const sessionStatements = statementsOf

type Row = Readonly<Record<string, unknown>>

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const sentOf = (row: Row): SentSession => ({
  agentId: String(row['agent']),
  sessionId: String(row['session']),
  externalId: String(row['trace']),
  status: row['status'] as TraceStatus,
  fields: new Map(JSON.parse(String(row['fields'])) as [string, string][]),
  sentFrom: textOf(row['sent_from']),
})

const write = (statements: Statements, destination: number, state: SessionState): void => {
  const { agentId, sessionId, externalId, status, stamp = null, fields, source } = state
  statements.write.run(agentId, sessionId, externalId, status, JSON.stringify([...fields]), destination)
  const id = statements.id.get(destination, agentId, sessionId)?.['id']
  if (id !== undefined) statements.writeSource.run(destination, source, id, stamp)
}

const acknowledge = (
  statements: Statements,
  destination: number,
  { agentId, sessionId }: SessionKey,
  messages: readonly StoredMessage[],
): void =>
  transaction(statements.database, () => {
    const id = statements.id.get(destination, agentId, sessionId)?.['id']
    if (id === undefined) return
    for (const { externalId, digest } of messages) statements.acknowledge.run(id, hashOf(externalId), digest)
  })

const complete = (
  statements: Statements,
  destination: number,
  state: SessionState,
  resume: string | undefined,
): void => {
  const { agentId, sessionId, source } = state
  write(statements, destination, state)
  statements.setSentFrom.run(source, destination, agentId, sessionId)
  statements.setResume.run(resume ?? null, destination, source)
}

/** The states of one destination, whose id `idOf` gives. */
export const newSessionStates = <Prepared extends { readonly sessions: Statements }>(
  file: StateFile<Prepared>,
  idOf: (prepared: Prepared) => number,
): SessionStates => {
  const on = <T>(work: (statements: Statements, destination: number) => T): T =>
    file.use((prepared) => work(prepared.sessions, idOf(prepared)))
  return {
    isKept: () => on(({ isKept }, destination) => isKept.get(destination) !== undefined),
    logId: () => on(({ log }, destination) => textOf(log.get(destination)?.['log'])),
    lastWrite: () => on(({ lastWrite }, destination) => textOf(lastWrite.get(destination)?.['position'])),
    noteWrite: (position) => {
      if (position !== undefined) on(({ noteWrite }, destination) => void noteWrite.run(position, destination))
    },
    read: (source) =>
      on(({ read }, destination) => {
        const found = read.get(destination, source)
        return found && { ...sentOf(found), source, stamp: textOf(found['stamp']) }
      }),
    find: ({ agentId, sessionId }) =>
      on(({ find }, destination) => {
        const found = find.get(destination, agentId, sessionId)
        return found && sentOf(found)
      }),
    write: (state) =>
      on((statements, destination) => transaction(statements.database, () => write(statements, destination, state))),
    digests:
      ({ agentId, sessionId }) =>
      (externalId) =>
        on(({ digest }, destination) => {
          const found = digest.get(hashOf(externalId), destination, agentId, sessionId)
          return found?.['digest'] as Uint8Array | undefined
        }),
    acknowledge: (session, messages) =>
      on((statements, destination) => acknowledge(statements, destination, session, messages)),
    count: ({ agentId, sessionId }) =>
      on(({ count }, destination) => Number(count.get(destination, agentId, sessionId)!['count'])),
    forget: ({ agentId, sessionId }) =>
      on(({ forget }, destination) => void forget.run(destination, agentId, sessionId)),
    complete: (state, resume) =>
      on((statements, destination) =>
        transaction(statements.database, () => complete(statements, destination, state, resume)),
      ),
    resume: (source) => on(({ resume }, destination) => textOf(resume.get(destination, source)?.['resume'])),
  }
}

/** Nothing is remembered. */
export const noStates: SessionStates = {
  isKept: () => true,
  logId: () => undefined,
  lastWrite: () => undefined,
  noteWrite: () => {},
  read: () => undefined,
  find: () => undefined,
  write: () => {},
  digests: () => () => undefined,
  acknowledge: () => {},
  count: () => 0,
  forget: () => {},
  complete: () => {},
  resume: () => undefined,
}
