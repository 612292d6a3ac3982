import { trimEndMatching } from '../../base/texts.ts'
import { comparedPath } from '../trace/written-lines.ts'

/** Where a call wrote: its path, and the folder and the repository of its trace. */
export type Where = {
  readonly path: string
  readonly projectPath: string | undefined
  /** The name of the repository (`repositoryName`). */
  readonly repository: string | undefined
}

/** A file in a repository, also under the name that it had before. */
export type Place = { readonly path: string; readonly previousPath?: string | undefined }

/** The last segment of a remote's address, in lower case and without `.git`: a fork keeps it. Undefined without an address. */
export const repositoryName = (address = ''): string | undefined => {
  const name = trimEndMatching(address, /\//)
    .replace(/\.git$/i, '')
    .split(/[/:\\]/)
    .at(-1)
  return name ? name.toLowerCase() : undefined
}

const isAbsolute = (path: string): boolean => /^(?:\/|[A-Za-z]:\/)/.test(path)

/** A path without `.` and `..`. */
const resolved = (path: string): string => {
  const names: string[] = []
  for (const name of path.split('/')) {
    if (name === '..' && names.length > 0 && names.at(-1) !== '') names.pop()
    else if (name !== '.') names.push(name)
  }
  return names.join('/')
}

/** The full paths of calls that were compared before: each is compared with those of many lines. */
const known = new WeakMap<Where, string>()

/** The path with the folder of the project before it, where it is relative and that folder is known. */
const fullPath = (where: Where): string => {
  const full = known.get(where) ?? newFullPath(where)
  known.set(where, full)
  return full
}

const newFullPath = ({ path, projectPath }: Where): string => {
  if (isAbsolute(path) || projectPath === undefined) return resolved(path)
  return resolved(`${trimEndMatching(comparedPath(projectPath), /\//)}/${path}`)
}

const endsWith = (path: string, end: string): boolean => path === end || path.endsWith(`/${end}`)

/** Says whether a call wrote this file. The path of the file begins at the root of its repository. */
export const sameFileAs = ({ path, previousPath }: Place): ((where: Where) => boolean) => {
  const names = [path, ...(previousPath === undefined ? [] : [previousPath])].map((name) => name.normalize('NFC'))
  return (where) => {
    const full = fullPath(where)
    const mayBeBelow = !isAbsolute(where.path) && where.projectPath === undefined
    return names.some((name) => endsWith(full, name) || (mayBeBelow && endsWith(name, full)))
  }
}

/** Whether a call was made in one of these repositories, as far as its trace says. */
export const isSameRepository = ({ repository }: Pick<Where, 'repository'>, names: ReadonlySet<string>): boolean =>
  repository === undefined || names.has(repository)

const newPathInProject = (where: Where): string => {
  const full = fullPath(where)
  const project =
    where.projectPath === undefined ? undefined : resolved(trimEndMatching(comparedPath(where.projectPath), /\//))
  return project !== undefined && full.startsWith(`${project}/`) ? full.slice(project.length + 1) : full
}

const knownInProject = new WeakMap<Where, string>()

/** The path below the folder of the project. */
const pathInProject = (where: Where): string => {
  const path = knownInProject.get(where) ?? newPathInProject(where)
  knownInProject.set(where, path)
  return path
}

/** Files in repositories. A file is the same at the same place below its project, in one repository; a trace that has none may be of any. */
export const newPlaces = () => {
  const repositories = new Map<string, Set<string | undefined>>()
  return {
    has: (where: Where): boolean => {
      const some = repositories.get(pathInProject(where))
      if (!some) return false
      return where.repository === undefined || some.has(undefined) || some.has(where.repository)
    },
    add: (where: Where): void => {
      const path = pathInProject(where)
      repositories.set(path, (repositories.get(path) ?? new Set()).add(where.repository))
    },
  }
}
