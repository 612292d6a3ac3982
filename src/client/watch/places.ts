import { realpath, stat } from 'node:fs/promises'
import { dirname, relative, resolve, sep } from 'node:path'
import type { Agent } from '../agents/agent.ts'
import type { SearchedHome } from '../agents/session-files.ts'
import { realPathOf } from '../rules/repository.ts'

/** A folder that is searched for sessions, or a file that holds some; it need not exist. */
export type Place = {
  /** Its real path; if it does not exist, the path that it will have. */
  readonly path: string
  readonly kind: 'folder' | 'file' | 'missing'
  /** The agent whose sessions it holds; undefined for a path that the user has named. */
  readonly agent: Agent | undefined
}

/** What is searched: `paths`, which the user has named, or without any the agents' own places. */
export type Searched = {
  readonly agents: readonly Agent[]
  readonly paths: readonly string[]
  readonly home: SearchedHome
}

const kindOf = async (path: string): Promise<Place['kind']> => {
  const stats = await stat(path).catch(() => undefined)
  if (!stats) return 'missing'
  return stats.isDirectory() ? 'folder' : 'file'
}

/** The places where sessions are, or will be. */
export const placesOf = async ({ agents, paths, home: { env, home } }: Searched): Promise<readonly Place[]> => {
  const named = paths.map((path) => ({ path: resolve(path), agent: undefined }))
  const own = agents.flatMap((agent) => agent.roots(env, home).map((path) => ({ path: resolve(path), agent })))
  const places = paths.length > 0 ? named : own
  return Promise.all(
    places.map(async ({ path, agent }) => ({ path: (await realPathOf(path)).path, kind: await kindOf(path), agent })),
  )
}

/** The nearest existing folder above a place: in it a missing place, or a part of its path, will be created. */
export const folderAbove = async ({ path }: Place): Promise<string> => {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const real = await realpath(folder).catch(() => undefined)
    if (real !== undefined || folder === dirname(folder)) return real ?? folder
  }
}

/** Whether a path is below a folder. */
export const isBelow = (path: string, folder: string): boolean => path.startsWith(folder + sep)

/** Whether a folder below a place is not searched, itself or because it is in such a folder. */
export const isSkipped = ({ path, agent }: Place, folder: string): boolean => {
  const steps = relative(path, folder).split(sep)
  return steps.some((_, i) => agent?.skipsFolder?.(steps.slice(0, i + 1).join(sep)) === true)
}
