import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from '../agents/support/sqlite/load.ts'
import { count } from '../agents/support/trace-fields.ts'
import { nameOfServer } from '../login/credentials.ts'
import { openDuties } from './duties.ts'
import { newSessionStates, sessionStatements, type SessionStates } from './session-states.ts'
import { openStateFile, STATE_FILE, type StateFile, transaction } from './state-file.ts'

/** The loss of a part of a session whose kind is not known: `5e55… unknown song 2`. The name of a kind has no blanks. */
export const unknownKindLoss = (session: string, kind: string, part: number): string =>
  `${session} unknown ${kind} ${part}`

/**
 * Losses in an agent's sessions, such as a line that is not a JSON object, that were reported to the user. Each is reported once, wherever
 * the session's file is, and named by a text, such as `5e55… line 12` or `5e55… message u-1`.
 */
type ReportedLosses = {
  /** Those of `losses` that were not reported before. */
  readonly newLosses: (agentId: string, losses: readonly string[]) => readonly string[]
  readonly noteReported: (agentId: string, losses: readonly string[]) => void
  /** How many parts of each unknown kind were left out of all sessions, and reported. */
  readonly unknownKinds: () => ReadonlyMap<string, number>
}

const reportedStatements = (database: Database) => ({
  isTold: database.prepare('SELECT 1 FROM told WHERE agent = ? AND loss = ?'),
  note: database.prepare('INSERT OR IGNORE INTO told (agent, loss) VALUES (?, ?)'),
  ofKinds: database.prepare("SELECT loss FROM told WHERE loss LIKE '% unknown %'"),
})

const kindsIn = (losses: readonly unknown[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const loss of losses) {
    const kind = / unknown (\S+) \d+$/.exec(String(loss))?.[1]
    if (kind !== undefined) count(counts, kind)
  }
  return counts
}

const newReportedLosses = (file: StateFile<Prepared>): ReportedLosses => ({
  newLosses: (agentId, losses) => file.use(({ told }) => losses.filter((loss) => !told.isTold.get(agentId, loss))),
  noteReported: (agentId, losses) =>
    file.use(({ database, told }) =>
      transaction(database, () => {
        for (const loss of losses) told.note.run(agentId, loss)
      }),
    ),
  unknownKinds: () => file.use(({ told }) => kindsIn(told.ofKinds.all().map(({ loss }) => loss))),
})

/** A namespace of a service. `logId` names the service's log, if it is known. */
type Place = { readonly server: string; readonly namespaceId: string; readonly logId?: string | undefined }

/** What is known of a source since it was last read, when it had this stamp. */
type KnownOrigin = { readonly stamp: string; readonly projectPath: string | undefined }

/** What this machine remembers of its uploads. */
export type SyncState = ReportedLosses & {
  /** What was sent to a place. What was sent to an earlier log of it is forgotten: the service does not have it any more. */
  readonly of: (place: Place) => Promise<SessionStates>
  /** The position of the last write that a service has acknowledged; undefined if none was noted. */
  readonly lastWriteTo: (server: string) => string | undefined
  /** Forgets all that was sent to a service. */
  readonly forget: (server: string) => void
  /** Undefined for a source that was never read. */
  readonly originOf: (source: string) => KnownOrigin | undefined
  readonly noteOrigin: (source: string, origin: KnownOrigin) => void
  readonly close: () => void
}

const prepare = (database: Database) => ({
  database,
  sessions: sessionStatements(database),
  destination: database.prepare('SELECT id, log FROM destination WHERE server = ? AND namespace = ?'),
  addDestination: database.prepare('INSERT INTO destination (server, namespace, log) VALUES (?, ?, ?)'),
  setLog: database.prepare('UPDATE destination SET log = ? WHERE id = ?'),
  lastWrite: database.prepare('SELECT position FROM last_write WHERE server = ?'),
  forgetWrite: database.prepare('DELETE FROM last_write WHERE server = ?'),
  forgetDestinations: database.prepare('DELETE FROM destination WHERE server = ?'),
  removeDestination: database.prepare('DELETE FROM destination WHERE id = ?'),
  told: reportedStatements(database),
  origin: database.prepare('SELECT stamp, project FROM origin WHERE source = ?'),
  noteOrigin: database.prepare('INSERT OR REPLACE INTO origin (source, stamp, project) VALUES (?, ?, ?)'),
})
type Prepared = ReturnType<typeof prepare>

/** The id of a place's destination. If its log is another one now, everything that was sent to it is forgotten. */
const enter = (prepared: Prepared, { server, namespaceId, logId }: Place): number =>
  transaction(prepared.database, () => {
    const found = prepared.destination.get(server, namespaceId)
    const isSame = found && (logId === undefined || found['log'] === null || found['log'] === logId)
    if (isSame) {
      if (logId !== undefined && found['log'] === null) prepared.setLog.run(logId, found['id']!)
      return Number(found['id'])
    }
    if (found) prepared.removeDestination.run(found['id']!)
    return Number(prepared.addDestination.run(server, namespaceId, logId ?? null).lastInsertRowid)
  })

/** Looks up the destination of a place once in each file. Later writes are for that one, or for none after it was forgotten. */
const newIdOf = (place: Place) => {
  const known = new WeakMap<Prepared, number>()
  return (prepared: Prepared): number => {
    const id = known.get(prepared) ?? enter(prepared, place)
    known.set(prepared, id)
    return id
  }
}

/** `config` is the folder of settings, where duties lie. With `readOnly` everything is written to memory only. */
type Options = { readonly folder: string; readonly config: string; readonly readOnly?: boolean }

/** Opens the state in `folder`. Throws Error if a newer version has written it. */
export const openSyncState = ({ folder, config, readOnly = false }: Options): SyncState => {
  const isInMemory = readOnly && !existsSync(join(folder, STATE_FILE))
  const file = openStateFile(isInMemory ? undefined : folder, prepare)

  return {
    of: async (given) => {
      const place = { ...given, server: nameOfServer(config, given.server) }
      return newSessionStates(file, newIdOf(place), openDuties(config, given.server))
    },
    lastWriteTo: (server) =>
      file.use(({ lastWrite }) => {
        const found = lastWrite.get(nameOfServer(config, server))?.['position']
        return typeof found === 'string' ? found : undefined
      }),
    forget: (server) =>
      file.use((prepared) =>
        transaction(prepared.database, () => {
          prepared.forgetWrite.run(nameOfServer(config, server))
          prepared.forgetDestinations.run(nameOfServer(config, server))
        }),
      ),
    originOf: (source) =>
      file.use(({ origin }) => {
        const found = origin.get(source)
        if (!found) return undefined
        const { stamp, project } = found
        return { stamp: String(stamp), projectPath: typeof project === 'string' ? project : undefined }
      }),
    noteOrigin: (source, { stamp, projectPath }) =>
      file.use(({ noteOrigin }) => void noteOrigin.run(source, stamp, projectPath ?? null)),
    ...newReportedLosses(file),
    close: file.close,
  }
}
