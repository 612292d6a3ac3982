import type { EnvironmentVariables } from '../agents/agent.ts'
import { type GitConfig, gitRules, newGitConfig } from './git-config.ts'
import { type CheckedOut, readHead } from './head.ts'
import { openRememberedRules, readProjectFiles, type RememberedRules } from './project-file.ts'
import { findPlace, type Place, type Repository } from './repository.ts'
import type { RuleSource } from './rule.ts'
import { readUserRules, type UserRules } from './user-rules.ts'

/** The rules for the sessions of one project. */
type RulesOfProject = {
  /** In the order of precedence. */
  readonly sources: readonly RuleSource[]
  /** The real path of the project, as far as its folders exist; undefined if it is not known. */
  readonly place: Place | undefined
}

/** The rules on this machine. Each method throws UsageError for rules that cannot be used. */
export type ProjectRules = {
  readonly of: (projectPath: string | undefined) => Promise<RulesOfProject>
  /** The rule that excludes a session, by its file or by the path of its project; undefined if none does. */
  readonly excludes: (source: string, projectPath: string | undefined) => Promise<string | undefined>
  readonly git: () => GitConfig
  /** What a worktree had checked out at a time. */
  readonly headOf: (repository: Repository) => Promise<(at: number | undefined) => CheckedOut>
}

export type RulesFolders = {
  readonly env: EnvironmentVariables
  readonly home: string
  /** The configuration folder. */
  readonly config: string
  /** Whether rules are stored, in case the folder of their project is removed. */
  readonly remembers: boolean
}

/** The rules as they were last read. They are read again after a while, because a watcher runs for days. */
type Snapshot = {
  readonly readAt: number
  readonly git: GitConfig
  readonly user: Promise<UserRules>
  readonly projects: Map<string, Promise<RulesOfProject>>
  readonly heads: Map<string, ReturnType<typeof readHead>>
}

const MAX_AGE_MS = 2_000

const isNotEmpty = ({ rule }: RuleSource): boolean => Object.keys(rule).length > 0

/** The project's own rules: files in it, and the configuration of its repository; the stored ones if its folder was removed. */
const inProject = async (
  place: Place,
  local: RuleSource,
  remembered: RememberedRules,
): Promise<readonly RuleSource[]> => {
  const found = [local, ...(await readProjectFiles(place))].filter(isNotEmpty)
  // If a folder of a repository was removed, the rules of the repository, which still exists, count.
  if (place.exists || place.repository) {
    if (place.exists) await remembered.write(place.path, found)
    return found
  }
  const gone = await remembered.read(place.path)
  return [...found, ...gone.map((source) => ({ ...source, place: `${source.place}, which is gone` }))]
}

/** The paths of a project: as its agent has it, and the real one. */
const pathsOf = (projectPath: string | undefined, place: Place | undefined): readonly string[] => [
  ...(projectPath === undefined ? [] : [projectPath]),
  ...(place ? [place.path] : []),
]

/** Reads the rules on this machine; `now` is a time in milliseconds. */
export const newProjectRules = (
  { env, home, config, remembers }: RulesFolders,
  now: () => number = () => performance.now(),
): ProjectRules => {
  const stored = openRememberedRules(config)
  const remembered = remembers ? stored : { ...stored, write: async () => {} }
  let last: Snapshot | undefined
  const snapshot = (): Snapshot => {
    if (last && now() - last.readAt < MAX_AGE_MS) return last
    const [projects, heads] = [new Map(), new Map()]
    last = { readAt: now(), git: newGitConfig(env), user: readUserRules(config, home), projects, heads }
    last.user.catch(() => {}) // the caller who awaits it gets the error
    return last
  }

  const read = async ({ git, user }: Snapshot, projectPath: string | undefined): Promise<RulesOfProject> => {
    const place = projectPath === undefined ? undefined : await findPlace(projectPath, home)
    const { local, global } = gitRules(await git.rules(place?.repository), place?.repository?.root)
    const own = (await user).rulesFor(pathsOf(projectPath, place))
    const project = place ? await inProject(place, local, remembered) : []
    const [first, rest] = [project.filter(({ stranger }) => !stranger), project.filter(({ stranger }) => stranger)]
    return { sources: [...first, ...own, ...rest, global].filter(isNotEmpty), place }
  }

  const of = (projectPath: string | undefined): Promise<RulesOfProject> => {
    const current = snapshot()
    const key = projectPath ?? ''
    const known = current.projects.get(key) ?? read(current, projectPath)
    current.projects.set(key, known)
    return known
  }
  return {
    of,
    excludes: async (source, projectPath) => {
      const place = projectPath === undefined ? undefined : (await of(projectPath)).place
      return (await snapshot().user).excludes([source, ...pathsOf(projectPath, place)])
    },
    git: () => snapshot().git,
    headOf: (repository) => {
      const { heads } = snapshot()
      const known = heads.get(repository.gitDir) ?? readHead(repository)
      heads.set(repository.gitDir, known)
      return known
    },
  }
}
