import { hashOf } from '../agents/support/hashed-map.ts'
import type { Database } from '../agents/support/sqlite/load.ts'
import type { Duties } from './duties.ts'
import { type StateFile, transaction } from './state-file.ts'

/** A session by its agent and its own id: the same one wherever its file is. */
export type SessionKey = { readonly agentId: string; readonly sessionId: string }

/** Whether the service has a session's trace: not yet, or it was sent, or the service has said that it was deleted or moved to another namespace. */
type TraceStatus = 'new' | 'stored' | 'deleted' | 'moved'

/**
 * What was sent of a session. `externalId` is the id of its trace. `files` are those in which it was read, here or there, by their paths, each with
 * its stamp when all of it had been sent, undefined after an interrupted upload. `fields` holds digests of the trace's fields as they were when they were
 * compared with the service; of a title, the last one that the service has had from here. `revision` is that of the trace at which the notes about messages hold; undefined if nothing is known of what the
 * service has. `sentFrom` is the only source of the versions that are noted as ours; undefined if there are several.
 */
export type SentSession = SessionKey & {
  readonly externalId: string
  readonly status: TraceStatus
  readonly files: ReadonlyMap<string, string | undefined>
  readonly fields: ReadonlyMap<string, string>
  readonly revision?: number | undefined
  readonly sentFrom?: string | undefined
  /** The slug of the namespace to which its trace was moved. */
  readonly movedTo?: string | undefined
}

/** What was sent of a session that is read from its `source`: `files` are only those of that. */
export type SessionState = SentSession & { readonly source: string }

/**
 * What the service has of a message: the version with this digest; or, if it is `theirs`, what another machine has sent, which was compared with
 * the version with this digest, and has at least as much.
 */
export type MessageNote = { readonly digest: Uint8Array; readonly isTheirs?: boolean }
export type NotedMessage = MessageNote & { readonly externalId: string }

/** The digest in the note of a message that others have sent, and that was not compared yet. */
export const NOT_COMPARED = new Uint8Array([0])

/** The digest in the note of a message that was sent without an answer: whether the service has it is not known. */
export const MAYBE_SENT = new Uint8Array()

/** The revision of a trace before and after what is noted; undefined: nothing was, or is, known of what the service has. */
export type Revisions = { readonly from: number | undefined; readonly to: number | undefined }

/** What was sent to one namespace of one service. Every function reads or writes the file at once. */
export type SessionStates = {
  /** False once another process has found that what was sent to the service is lost: then nothing is noted here any more. */
  readonly isKept: () => boolean
  /** The log that all of it was sent to; undefined if it is not known. */
  readonly logId: () => string | undefined
  /** The position of the last write that the service has acknowledged, in any of its namespaces. */
  readonly lastWrite: () => string | undefined
  readonly noteWrite: (position: string | undefined) => void
  /** What was sent of a session to other namespaces of the service. */
  readonly elsewhere: (session: SessionKey) => readonly (SentSession & { readonly namespaceId: string })[]
  /** What was sent of the session that was read in a file. */
  readonly read: (path: string) => SentSession | undefined
  readonly find: (session: SessionKey) => SentSession | undefined
  /**
   * Writes everything but the messages, and adds the files; the revision, and the source as `sentFrom`, only of a session that is not recorded yet.
   */
  readonly write: (state: SessionState) => void
  /** Gives the note about a message by its id. */
  readonly notes: (session: SessionKey) => (externalId: string) => MessageNote | undefined
  /**
   * Notes what the service has of messages, once its trace has got from one revision to the other. Nothing is noted if the recorded revision is
   * another one: a process that knows more has recorded it. Where they are ours, and another source was `sentFrom`, there is none any more.
   */
  readonly note: (
    session: SessionKey & { readonly source: string },
    messages: readonly NotedMessage[],
    revisions: Revisions,
  ) => void
  /** How many messages the service has for certain. */
  readonly count: (session: SessionKey) => number
  readonly forget: (session: SessionKey) => void
  /**
   * Notes that a session was sent as it is in its files. `hasAll`: whether it has every message that the service has: then it is `sentFrom`.
   */
  readonly complete: (state: SessionState, hasAll: boolean) => void
  /** What still has to be done at the service, which outlasts all that is recorded here. */
  readonly duties: Duties
}

const OF_SESSION = 'destination = ? AND agent = ? AND session = ?'

const SENT =
  'agent, session.session, trace, status, fields, revision, sent_from, moved_to, ' +
  '(SELECT json_group_object(path, stamp) FROM file WHERE file.session = session.id) AS files'

const statementsOf = (database: Database) => ({
  database,
  isKept: database.prepare('SELECT 1 FROM destination WHERE id = ?'),
  log: database.prepare('SELECT log FROM destination WHERE id = ?'),
  lastWrite: database.prepare('SELECT position FROM last_write JOIN destination USING (server) WHERE id = ?'),
  noteWrite: database.prepare(
    'INSERT OR REPLACE INTO last_write (server, position) SELECT server, ? FROM destination WHERE id = ?',
  ),
  read: database.prepare(
    `SELECT ${SENT} FROM session WHERE id = (SELECT session FROM file WHERE destination = ? AND path = ?)`,
  ),
  find: database.prepare(`SELECT ${SENT} FROM session WHERE ${OF_SESSION}`),
  elsewhere: database.prepare(
    `SELECT ${SENT}, namespace FROM session JOIN destination ON destination.id = session.destination
     WHERE server = (SELECT server FROM destination WHERE id = ?1) AND destination.id <> ?1 AND agent = ?2 AND session.session = ?3`,
  ),
  id: database.prepare(`SELECT id, revision FROM session WHERE ${OF_SESSION}`),
  // Nothing is written once the destination is gone: another process has found that its log is gone.
  write: database.prepare(
    'INSERT INTO session (destination, agent, session, trace, status, fields, revision, sent_from, moved_to) ' +
      'SELECT id, ?, ?, ?, ?, ?, ?, ?, ? FROM destination WHERE id = ? ' +
      'ON CONFLICT DO UPDATE SET trace = excluded.trace, status = excluded.status, fields = excluded.fields, moved_to = excluded.moved_to',
  ),
  writeFile: database.prepare(
    'INSERT INTO file (destination, path, session, stamp) VALUES (?, ?, ?, ?) ' +
      'ON CONFLICT DO UPDATE SET session = excluded.session, stamp = excluded.stamp',
  ),
  noteOf: database.prepare(
    `SELECT digest, theirs FROM message WHERE id = ? AND session = (SELECT id FROM session WHERE ${OF_SESSION})`,
  ),
  note: database.prepare('INSERT OR REPLACE INTO message (session, id, digest, theirs) VALUES (?, ?, ?, ?)'),
  addSource: database.prepare('UPDATE session SET sent_from = NULL WHERE id = ? AND sent_from <> ?'),
  setRevision: database.prepare('UPDATE session SET revision = ? WHERE id = ?'),
  forget: database.prepare(`DELETE FROM session WHERE ${OF_SESSION}`),
  count: database.prepare(
    `SELECT count(*) AS count FROM message WHERE digest <> x'' AND session = (SELECT id FROM session WHERE ${OF_SESSION})`,
  ),
  setSentFrom: database.prepare(`UPDATE session SET sent_from = ? WHERE ${OF_SESSION}`),
})

type Statements = ReturnType<typeof statementsOf>
export const sessionStatements = statementsOf

type Row = Readonly<Record<string, unknown>>

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

const withoutNull = ([path, stamp]: readonly [string, string | null]) => [path, stamp ?? undefined] as const

const sentOf = (row: Row): SentSession => ({
  agentId: String(row['agent']),
  sessionId: String(row['session']),
  externalId: String(row['trace']),
  status: row['status'] as TraceStatus,
  files: new Map(Object.entries(JSON.parse(String(row['files'])) as Record<string, string | null>).map(withoutNull)),
  fields: new Map(JSON.parse(String(row['fields'])) as [string, string][]),
  revision: numberOf(row['revision']),
  sentFrom: textOf(row['sent_from']),
  ...(row['moved_to'] === null ? {} : { movedTo: String(row['moved_to']) }),
})

const write = (statements: Statements, destination: number, state: SessionState): void => {
  const { agentId, sessionId, externalId, status, files, fields, revision = null, source, movedTo = null } = state
  const texts = JSON.stringify([...fields])
  statements.write.run(agentId, sessionId, externalId, status, texts, revision, source, movedTo, destination)
  const id = statements.id.get(destination, agentId, sessionId)?.['id']
  if (id === undefined) return
  for (const [path, stamp = null] of files) statements.writeFile.run(destination, path, id, stamp)
}

const note = (
  statements: Statements,
  destination: number,
  { agentId, sessionId, source }: SessionKey & { readonly source: string },
  { messages, from, to }: Revisions & { readonly messages: readonly NotedMessage[] },
): void =>
  transaction(statements.database, () => {
    const found = statements.id.get(destination, agentId, sessionId)
    if (!found || numberOf(found['revision']) !== from) return
    const id = found['id']!
    for (const { externalId, digest, isTheirs = false } of messages)
      statements.note.run(id, hashOf(externalId), digest, Number(isTheirs))
    if (messages.some(({ isTheirs }) => !isTheirs)) statements.addSource.run(id, source)
    if (to !== from) statements.setRevision.run(to ?? null, id)
  })

const complete = (statements: Statements, destination: number, state: SessionState, hasAll: boolean): void => {
  const { agentId, sessionId, source } = state
  write(statements, destination, state)
  if (hasAll) statements.setSentFrom.run(source, destination, agentId, sessionId)
}

/** The states of one destination, whose id `idOf` gives. */
export const newSessionStates = <Prepared extends { readonly sessions: Statements }>(
  file: StateFile<Prepared>,
  idOf: (prepared: Prepared) => number,
  duties: Duties,
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
    elsewhere: ({ agentId, sessionId }) =>
      on(({ elsewhere }, destination) =>
        elsewhere
          .all(destination, agentId, sessionId)
          .map((row) => ({ ...sentOf(row), namespaceId: String(row['namespace']) })),
      ),
    read: (path) =>
      on(({ read }, destination) => {
        const found = read.get(destination, path)
        return found && sentOf(found)
      }),
    find: ({ agentId, sessionId }) =>
      on(({ find }, destination) => {
        const found = find.get(destination, agentId, sessionId)
        return found && sentOf(found)
      }),
    write: (state) =>
      on((statements, destination) => transaction(statements.database, () => write(statements, destination, state))),
    notes:
      ({ agentId, sessionId }) =>
      (externalId) =>
        on(({ noteOf }, destination) => {
          const found = noteOf.get(hashOf(externalId), destination, agentId, sessionId)
          return found && { digest: found['digest'] as Uint8Array, isTheirs: found['theirs'] === 1 }
        }),
    note: (session, messages, revisions) =>
      on((statements, destination) => note(statements, destination, session, { messages, ...revisions })),
    count: ({ agentId, sessionId }) =>
      on(({ count }, destination) => Number(count.get(destination, agentId, sessionId)!['count'])),
    forget: ({ agentId, sessionId }) =>
      on(({ forget }, destination) => void forget.run(destination, agentId, sessionId)),
    complete: (state, hasAll) =>
      on((statements, destination) =>
        transaction(statements.database, () => complete(statements, destination, state, hasAll)),
      ),
    duties,
  }
}

/** Nothing is remembered but duties. */
export const noStates = (duties: Duties): SessionStates => ({
  isKept: () => true,
  logId: () => undefined,
  lastWrite: () => undefined,
  noteWrite: () => {},
  elsewhere: () => [],
  read: () => undefined,
  find: () => undefined,
  write: () => {},
  notes: () => () => undefined,
  note: () => {},
  count: () => 0,
  forget: () => {},
  complete: () => {},
  duties,
})
