import { statSync } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import { errorMessage, UsageError } from '../../cli/exit.ts'
import type { Agent, EnvironmentVariables } from './agent.ts'
import { firstBytes } from './support/chunks.ts'

/** A file that leads to sessions, by its real path, the agent that has written it, and the other files of its session. */
export type SessionFile = { readonly path: string; readonly agent: Agent; readonly others?: readonly string[] }

/** All files that are read for a file's sessions. */
export const filesOf = ({ path, others = [] }: SessionFile): readonly string[] => [path, ...others]

/** What the agents' default folders depend on. */
export type SearchedHome = { readonly env: EnvironmentVariables; readonly home: string }

/** Called for each folder and file that cannot be read or was deleted during the search, and for a named file that no agent has written. */
type ReportUnreadable = (path: string, message: string) => void

/** A symbolic link in a searched folder, which is not followed, to a folder or to a file with sessions. */
export type Linked = { readonly path: string; readonly kind: 'folder' | 'file' }

/** What else is told of a search. */
type Told = {
  /** Called for each folder before it is searched. */
  readonly onFolder: (path: string) => void
  /** Called for each link that is left out, with the agent in whose folder it is. */
  readonly onLink: (linked: Linked, agent: Agent | undefined) => void
}

type Search = Pick<Told, 'onFolder'> & {
  readonly unreadable: ReportUnreadable
  readonly onLink: (path: string) => void
}

/** A folder in which an agent stores its sessions, or a file that holds some, by its real path. */
type Root = { readonly path: string; readonly agent: Agent }

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')

/** The roots of all agents, without those that do not exist. A root that is a symbolic link is followed. */
const rootsOf = async (agents: readonly Agent[], { env, home }: SearchedHome): Promise<readonly Root[]> => {
  const roots: Root[] = []
  for (const agent of agents)
    for (const root of agent.roots(env, home)) {
      const path = await realpath(root).catch(() => undefined)
      if (path !== undefined) roots.push({ path, agent })
    }
  return roots
}

/**
 * The files in a folder and in all folders below that are not skipped. Symbolic links are not followed: they could lead to files
 * outside that are not meant for upload, or back to a folder above.
 */
async function* filesBelow(
  folder: string,
  search: Search,
  skips: (folder: string) => boolean = () => false,
): AsyncGenerator<string> {
  search.onFolder(folder)
  try {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isFile()) yield path
      else if (entry.isDirectory() && !skips(path)) yield* filesBelow(path, search, skips)
      else if (entry.isSymbolicLink() && !skips(path)) search.onLink(path)
    }
  } catch (error) {
    search.unreadable(folder, errorMessage(error))
  }
}

/** The files of a root. */
async function* filesIn({ path, agent }: Root, search: Search): AsyncGenerator<string> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isFile()) return yield path
  yield* filesBelow(path, search, (folder) => agent.skipsFolder?.(relative(path, folder)) === true)
}

const BEGINNING = 1 << 16

/**
 * The agent that has written a file: the one whose root the file is or is in, otherwise the first one that recognises the file.
 * Undefined if it holds no sessions.
 */
const agentOf = async (
  path: string,
  { agents, roots }: { readonly agents: readonly Agent[]; readonly roots: readonly Root[] },
): Promise<Agent | undefined> => {
  const named = roots.find((root) => root.path === path)
  if (named) return named.agent
  const owners = roots.filter((root) => path.startsWith(root.path + sep)).map(({ agent }) => agent)
  if (owners.length > 0) return owners.find(({ isSessionFile }) => isSessionFile(path))
  const candidates = agents.filter(({ extensions }) => extensions.some((extension) => path.endsWith(extension)))
  if (candidates.length === 0) return undefined
  const beginning = (await firstBytes(path, BEGINNING)).toString('utf8')
  return candidates.find(({ recognises }) => recognises(path, beginning))
}

/** The files at a path that the user has named. Throws UsageError if that is neither a file nor a folder. */
async function* filesAt(path: string, search: Search): AsyncGenerator<string> {
  const found = await stat(path).catch((error: unknown) => {
    throw new UsageError(isMissing(error) ? `${path}: no such file or folder` : `${path}: ${errorMessage(error)}`)
  })
  if (found.isDirectory()) return yield* filesBelow(path, search)
  if (!found.isFile())
    throw new UsageError(`${path} is neither a file nor a folder: name a session file, or a folder with session files`)
  yield path
}

/** Two files with the same text, and no others, may be of the same session. */
const sessionKeyOf = ({ agent, path }: SessionFile): string => {
  const session = agent.sessionIn?.(path)
  return session === undefined ? path : `${agent.id} ${session}`
}

/** Each file that leads to sessions, with the other files of its session, and without those that are read with another one, or not at all. */
export const together = (files: readonly SessionFile[]): readonly SessionFile[] => {
  const paths = new Set(files.map(({ path }) => path))
  const leading = files.filter(({ path, agent }) => agent.readWith?.(path, paths) === undefined)
  return [...Map.groupBy(leading, sessionKeyOf).values()].map(([first, ...others]) =>
    others.length === 0 ? first! : { ...first!, others: others.map(({ path }) => path) },
  )
}

/** The folders in which an agent stores its sessions where a file lies as it does below a home folder, such as a copy of one. */
const rootsAround = ({ agent, path }: SessionFile, roots: readonly Root[]): readonly string[] => {
  const own = roots.filter((root) => root.agent === agent).map((root) => root.path)
  if (own.some((root) => path.startsWith(root + sep))) return own
  for (const root of agent.roots({}, sep)) {
    const end = path.indexOf(join(sep, root, sep))
    if (end !== -1) return agent.roots({}, path.slice(0, end) || sep)
  }
  return []
}

/** The other files of the sessions of named files: in the agent's folders, or beside them where they are in none. */
const othersOf = async (files: readonly SessionFile[], roots: readonly Root[]): Promise<readonly SessionFile[]> => {
  const search: Search = { unreadable: () => {}, onFolder: () => {}, onLink: () => {} }
  const found: SessionFile[] = []
  const listed = new Map<string, readonly string[]>()
  const list = async (folder: string, isRoot: boolean): Promise<readonly string[]> => {
    const known = listed.get(folder)
    if (known) return known
    const names = isRoot ? [] : await readdir(folder).catch(() => [])
    const all = isRoot ? await Array.fromAsync(filesBelow(folder, search)) : names.map((name) => join(folder, name))
    listed.set(folder, all)
    return all
  }
  const named = files.filter(({ agent, path }) => agent.sessionIn?.(path) !== undefined)
  const wanted = new Set(named.map(sessionKeyOf))
  for (const file of named) {
    const { agent } = file
    const around = rootsAround(file, roots)
    const folders = around.length > 0 ? around : [dirname(file.path)]
    for (const folder of folders)
      for (const path of await list(folder, around.length > 0))
        if (agent.isSessionFile(path) && wanted.has(sessionKeyOf({ agent, path }))) found.push({ agent, path })
  }
  return found
}

/** Whether one of two paths is the other one, or above it. */
const overlap = (one: string, other: string): boolean =>
  one === other || one.startsWith(other + sep) || other.startsWith(one + sep)

/** What a link is: undefined unless it leads to a folder or a session file that is not searched anyway. One back to a folder above leads to nothing new. */
const linkedAt = async (
  path: string,
  searched: readonly string[],
  isSessionFile: (path: string) => Promise<boolean>,
): Promise<Linked | undefined> => {
  const target = await realpath(path).catch(() => undefined)
  const stats = target === undefined ? undefined : await stat(target).catch(() => undefined)
  if (!stats || searched.some((folder) => overlap(folder, target!))) return undefined
  if (stats.isDirectory()) return { path, kind: 'folder' }
  return stats.isFile() && (await isSessionFile(path)) ? { path, kind: 'file' } : undefined
}

/**
 * The session files at `paths`, which are files or folders; without paths those in the agents' default folders. Real paths, sorted
 * and without duplicates. A path that is a symbolic link is followed. A file that the user has named and that no agent recognises
 * is reported, and so are links to folders and session files that are left out. Throws UsageError for a path that does not exist or is neither a file nor a folder.
 */
export const findSessionFiles = async (
  agents: readonly Agent[],
  paths: readonly string[],
  searched: SearchedHome,
  unreadable: ReportUnreadable,
  { onFolder = () => {}, onLink = () => {} }: Partial<Told> = {},
): Promise<readonly SessionFile[]> => {
  const links = new Map<string, Agent | undefined>()
  const searchOf = (agent?: Agent): Search => ({ unreadable, onFolder, onLink: (path) => void links.set(path, agent) })
  const roots = await rootsOf(agents, searched)
  const found = new Map<string, SessionFile>()
  const add = async (path: string): Promise<boolean> => {
    const agent = await agentOf(path, { agents, roots })
    if (agent) found.set(path, { path, agent })
    return agent !== undefined
  }
  const addNamed = async (file: string, isNamed: boolean) => {
    try {
      const isAdded = await add(await realpath(file))
      if (isNamed && !isAdded) unreadable(file, `${basename(file)} is not a session file of a known agent`)
    } catch (error) {
      unreadable(file, errorMessage(error))
    }
  }
  for (const path of paths) for await (const file of filesAt(path, searchOf())) await addNamed(file, file === path)
  // A root is a real path, and no links are followed below it.
  if (paths.length === 0)
    for (const root of roots) for await (const file of filesIn(root, searchOf(root.agent))) await add(file)
  const named = await Promise.all(paths.map((path) => realpath(path)))
  const folders = paths.length === 0 ? roots.map(({ path }) => path) : named
  const isSessionFile = (path: string) =>
    agentOf(path, { agents, roots }).then(
      (agent) => agent !== undefined,
      () => false,
    )
  for (const [path, agent] of [...links].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const linked = await linkedAt(path, folders, isSessionFile)
    if (linked) onLink(linked, agent)
  }
  if (paths.length > 0)
    for (const other of await othersOf([...found.values()], roots)) {
      if (!found.has(other.path)) onFolder(dirname(other.path))
      found.set(other.path, found.get(other.path) ?? other)
    }
  return together([...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1)))
}

/** The size of a file in bytes; 0 if it was deleted. */
export const sizeOf = (path: string): number => {
  try {
    return statSync(path).size
  } catch {
    return 0
  }
}

/** The sizes of all files together, in bytes. */
export const totalSize = (files: readonly SessionFile[]): number =>
  files.flatMap(filesOf).reduce((sum, path) => sum + sizeOf(path), 0)
