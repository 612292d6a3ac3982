import { lstat, realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { pathIn } from './globs.ts'
import { readSmallFile } from './read-small.ts'

/** A git repository, or one of its worktrees, by real paths. */
export type Repository = {
  /** The folder with the working files. */
  readonly root: string
  /** The folder that all worktrees share, where the configuration is. */
  readonly commonDir: string
  /** The folder of this worktree: `commonDir` itself but for the second and later ones. */
  readonly gitDir: string
}

/** Where a session was worked on, by real paths as far as they exist. */
export type Place = {
  readonly path: string
  /** Whether the folder is still there. */
  readonly exists: boolean
  readonly repository: Repository | undefined
  /** The name of the repository; undefined without one, and for the repository of a home folder, in which any other project may lie. */
  readonly project: string | undefined
  /** The folders in which rules may be, the nearest first. */
  readonly folders: readonly string[]
}

const MAX_POINTER_BYTES = 1 << 12

/** Whether a path exists; true also for a link that leads nowhere, as HEAD of an old repository may be. */
const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

/** The path that a file of git's names, as `.git` of a worktree does. */
const readPointer = async (file: string, prefix: string): Promise<string | undefined> => {
  const text = await readSmallFile(file, MAX_POINTER_BYTES).catch(() => undefined)
  const line = text?.trimEnd()
  if (line === undefined || line.includes('\0') || !line.startsWith(prefix)) return undefined
  return resolve(dirname(file), line.slice(prefix.length).trim())
}

/** The repository whose working files are directly in this folder, found as git does; but not a bare one. */
const repositoryAt = async (root: string): Promise<Repository | undefined> => {
  const dotGit = join(root, '.git')
  const found = await stat(dotGit).catch(() => undefined)
  if (!found) return undefined
  const gitDir = found.isDirectory() ? dotGit : await readPointer(dotGit, 'gitdir: ')
  if (gitDir === undefined || !(await isThere(join(gitDir, 'HEAD')))) return undefined
  const commonDir = (await readPointer(join(gitDir, 'commondir'), '')) ?? gitDir
  return { root, gitDir: await realpath(gitDir), commonDir: await realpath(commonDir).catch(() => commonDir) }
}

/** A path with its existing part made real, and whether all of it exists. */
export const realPathOf = async (path: string): Promise<{ readonly path: string; readonly exists: boolean }> => {
  const whole = await realpath(path).catch(() => undefined)
  if (whole !== undefined) return { path: whole, exists: true }
  const parent = dirname(path)
  if (parent === path) return { path, exists: false }
  return { path: join((await realPathOf(parent)).path, basename(path)), exists: false }
}

/** A folder and those above it, up to the root of the file system. */
const upward = (path: string): readonly string[] => {
  const parent = dirname(path)
  return parent === path ? [path] : [path, ...upward(parent)]
}

/** The folder with the working files of the first worktree, where it is an ordinary one. */
const mainRoot = ({ commonDir }: Repository): readonly string[] =>
  basename(commonDir) === '.git' ? [dirname(commonDir)] : []

/**
 * The name of a repository, which is the same in all its worktrees: that of the folder with the working files of the first one, or of a bare
 * repository, `shop.git` or `shop/.bare`.
 */
const nameOf = ({ root, gitDir, commonDir }: Repository): string | undefined => {
  const name = basename(commonDir)
  const folder = name.startsWith('.') ? basename(dirname(commonDir)) : name.replace(/\.git$/, '')
  return (gitDir === commonDir ? basename(root) : folder) || undefined
}

/**
 * Where a session was worked on, by its project's path. Rules are looked for from there up to the root of the repository, in a
 * further worktree also at the root of the first one; without a repository up to the home folder.
 * Undefined for a path of another machine.
 */
export const findPlace = async (projectPath: string, home: string): Promise<Place | undefined> => {
  if (!isAbsolute(projectPath) || projectPath.includes('\0')) return undefined
  const [{ path, exists }, realHome] = [await realPathOf(resolve(projectPath)), (await realPathOf(home)).path]
  const above = upward(path)
  const end = above.findIndex((folder) => pathIn(folder, realHome) !== undefined)
  const searched = end === -1 ? above : above.slice(0, end + 1)
  for (const [i, root] of searched.entries()) {
    const repository = await repositoryAt(root)
    if (!repository) continue
    const folders = new Set([...searched.slice(0, i + 1), ...mainRoot(repository)])
    const isOfHome = path !== root && pathIn(root, realHome) !== undefined
    return { path, exists, repository, project: isOfHome ? undefined : nameOf(repository), folders: [...folders] }
  }
  return { path, exists, repository: undefined, project: undefined, folders: searched }
}
