import { UsageError } from '../../cli/exit.ts'
import type { EnvironmentVariables } from '../agents/agent.ts'
import { GitFailed, type GitRun, runGit, streamGit } from './run-git.ts'
import { type GitSetting, readSettings } from './settings.ts'

/** Runs git at the root of a repository. No program that the repository names is run. @throws GitFailed */
type Ask<Answer> = (args: readonly string[], how?: Pick<GitRun, 'input' | 'mayExit' | 'ignoresReplacements'>) => Answer

/** A repository with working files. */
export type OpenRepository = {
  /** The folder with the working files, by its real path. */
  readonly root: string
  /** Whether its history has been cut off. */
  readonly isShallow: boolean
  readonly settings: readonly GitSetting[]
  readonly stream: Ask<AsyncGenerator<Buffer, void>>
  readonly text: Ask<Promise<string>>
}

const FILTER = /^filter\.(.+)\.(?:clean|smudge|process|required)$/s

/**
 * Settings that switch off the filters of attributes, whose programs git would run to compare the working files with what is committed. @throws UsageError for one
 * that no setting of a command line can name
 */
const withoutFilters = (settings: readonly GitSetting[]): string[] => {
  const names = new Set(settings.flatMap(({ name }) => FILTER.exec(name)?.[1] ?? []))
  for (const name of names)
    if (name.includes('=')) throw new UsageError(`git's filter "${name}" cannot be switched off: give it another name`)
  return [...names].flatMap((name) => [
    `filter.${name}.clean=`,
    `filter.${name}.process=`,
    `filter.${name}.required=false`,
  ])
}

/** Why there is no repository to work with. */
const explain = (folder: string, { message, isMissing }: GitFailed): UsageError => {
  if (isMissing) return new UsageError('git is not installed')
  if (/not a git repository/.test(message)) return new UsageError(`${folder} is not in a git repository`)
  if (/bare repository/.test(message)) return new UsageError(withoutFiles(folder))
  return new UsageError(message)
}

const withoutFiles = (folder: string) =>
  `${folder} has no files of a repository: it is a bare one, or belongs to git itself. Use a clone, or a worktree of it`

/** The facts that git tells of a folder, in the order of `FACTS`. */
const FACTS = ['--is-inside-work-tree', '--is-shallow-repository']

/** Opens the repository of a folder. @throws UsageError where there is none, or git does not trust it */
export const openRepository = async (folder: string, env: EnvironmentVariables): Promise<OpenRepository> => {
  const ask = async (...args: readonly string[]) =>
    runGit({ args: ['rev-parse', ...args], env, folder }).catch((error: unknown) => {
      throw error instanceof GitFailed ? explain(folder, error) : error
    })
  const [isInside, isShallow] = (await ask(...FACTS)).split('\n').map((fact) => fact === 'true')
  if (!isInside) throw new UsageError(withoutFiles(folder))
  const root = (await ask('--show-toplevel')).replace(/\n$/, '')
  const settings = await readSettings(env, root)
  const made = withoutFilters(settings)
  return {
    root,
    isShallow: isShallow ?? false,
    settings,
    stream: (args, how = {}) => streamGit({ ...how, args, env, folder: root, settings: made }),
    text: (args, how = {}) => runGit({ ...how, args, env, folder: root, settings: made }),
  }
}
