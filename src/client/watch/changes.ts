import { lstat } from 'node:fs/promises'
import { errorMessage } from '../../cli/exit.ts'
import type { Agent, FoundSession } from '../agents/agent.ts'
import { filesOf, findSessionFiles, type Linked, type SessionFile, together } from '../agents/session-files.ts'
import { stampOf } from '../agents/support/files.ts'
import { folderAbove, isBelow, isSkipped, type Place, placesOf, type Searched } from './places.ts'
import type { WatchedFolders } from './watched-folders.ts'

/** A session that may have changed since it was last settled. */
export type Change = FoundSession

type Options = {
  readonly searched: Searched
  readonly folders: WatchedFolders
  /** Called for each path that cannot be read, once as long as the reason stays the same. */
  readonly unreadable: (path: string, message: string) => void
  /** Called for each link that is left out, once. */
  readonly onLink: (linked: Linked) => void
}

export type Changes = {
  /** Searches all places, watches their folders, and returns all changes. `isWatched` is false if not all folders can be watched. */
  readonly scan: () => Promise<{ readonly changes: readonly Change[]; readonly isWatched: boolean }>
  /** The changes at these paths, which the system has reported, and whether a scan is needed to find all of them. */
  readonly at: (
    paths: Iterable<string>,
  ) => Promise<{ readonly changes: readonly Change[]; readonly needsScan: boolean }>
  /** Notes that a change needs nothing more. */
  readonly settle: (change: Change) => void
  /** How many sessions there were at the last scan. */
  readonly sessions: () => number
}

/** The files that SQLite keeps beside a database, where it writes first. */
const BESIDE_DATABASE = /-(?:wal|journal|shm)$/

const isOf = (file: SessionFile, agent: Agent, session: string): boolean =>
  file.agent === agent && agent.sessionIn?.(file.path) === session

/** What has to be done about a path that has changed. */
type Meaning = 'nothing' | 'scan' | SessionFile

/** Finds the sessions that have changed, by their stamps, which are remembered. */
export const newChanges = ({ searched, folders, unreadable, onLink }: Options): Changes => {
  const stamps = new Map<string, string>()
  const failures = new Map<string, string>()
  /** By the path of each file the one that leads to its sessions. */
  let files = new Map<string, SessionFile>()
  let places: readonly Place[] = []
  let count = 0

  const tellUnreadable = (path: string, error: unknown) => {
    const message = errorMessage(error)
    if (failures.get(path) !== message) unreadable(path, message)
    failures.set(path, message)
  }

  const links = new Set<string>()
  const tellLink = (linked: Linked) => {
    if (!links.has(linked.path)) onLink(linked)
    links.add(linked.path)
  }

  /** The changed sessions of a file. `seen` is called for each session. */
  const changesIn = async (file: SessionFile, seen: (source: string) => void = () => {}): Promise<Change[]> => {
    const changes: Change[] = []
    try {
      for await (const stored of file.agent.sessions(file.path, file.others)) {
        seen(stored.source)
        if (stamps.get(stored.source) !== stampOf(stored)) changes.push({ agent: file.agent, stored })
      }
      failures.delete(file.path)
    } catch (error) {
      tellUnreadable(file.path, error)
    }
    return changes
  }

  const watchPlaces = async () => {
    places = await placesOf(searched)
    for (const place of places) {
      folders.add(await folderAbove(place))
      if (place.kind === 'folder') folders.add(place.path, { below: true })
    }
  }

  const scan = async () => {
    await watchPlaces()
    const named = places.filter(({ agent, kind }) => !agent && kind !== 'missing').map(({ path }) => path)
    const found =
      searched.paths.length > 0 && named.length === 0
        ? []
        : await findSessionFiles(searched.agents, named, searched.home, tellUnreadable, {
            onFolder: (folder) => folders.add(folder),
            onLink: tellLink,
          })
    files = new Map(found.flatMap((file) => filesOf(file).map((path) => [path, file])))
    const sources = new Set<string>()
    const changes: Change[] = []
    for (const file of found) changes.push(...(await changesIn(file, (source) => sources.add(source))))
    count = sources.size
    for (const source of stamps.keys()) if (!sources.has(source)) stamps.delete(source)
    return { changes, isWatched: folders.settle() }
  }

  /** A file that was not there at the last scan, in a place of an agent. */
  const newFile = (path: string): Meaning => {
    const agent = places.find((place) => place.path === path || isBelow(path, place.path))?.agent
    if (!agent) return 'scan'
    if (!agent.isSessionFile(path)) return 'nothing'
    const other = agent.readWith?.(path, new Set(files.keys()))
    if (other !== undefined) return files.get(other)!
    const session = agent.sessionIn?.(path)
    const known = session === undefined ? undefined : files.values().find((file) => isOf(file, agent, session))
    const paths = [path, ...(known ? filesOf(known) : [])].sort()
    const [file] = together(paths.map((each) => ({ path: each, agent }))) as [SessionFile]
    for (const each of paths) files.set(each, file)
    return file
  }

  const meaningOf = async (path: string): Promise<Meaning> => {
    const known = files.get(path) ?? files.get(path.replace(BESIDE_DATABASE, ''))
    const owners = places.filter((place) => isBelow(path, place.path))
    const isOnTheWay = places.some((place) => place.path === path || isBelow(place.path, path))
    if (!known && owners.length === 0) return isOnTheWay ? 'scan' : 'nothing'
    const stats = await lstat(files.has(path) ? path : (known?.path ?? path)).catch(() => undefined)
    if (known) return stats?.isFile() ? known : 'scan'
    if (stats?.isDirectory()) return owners.every((owner) => isSkipped(owner, path)) ? 'nothing' : 'scan'
    return stats?.isFile() ? newFile(path) : 'nothing'
  }

  const at = async (paths: Iterable<string>) => {
    const changed = new Set<SessionFile>()
    let needsScan = false
    for (const path of paths) {
      const meaning = await meaningOf(path)
      if (meaning === 'scan') needsScan = true
      else if (meaning !== 'nothing') changed.add(meaning)
    }
    const changes: Change[] = []
    for (const file of changed) changes.push(...(await changesIn(file)))
    return { changes, needsScan }
  }

  return {
    scan,
    at,
    settle: ({ stored }) => void stamps.set(stored.source, stampOf(stored)),
    sessions: () => count,
  }
}
