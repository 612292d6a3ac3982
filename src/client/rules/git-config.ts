import { join } from 'node:path'
import { UsageError } from '../../cli/exit.ts'
import type { EnvironmentVariables } from '../agents/agent.ts'
import { GitFailed } from '../git/run-git.ts'
import { type GitSetting, readSettings } from '../git/settings.ts'
import { readSmallFile } from './read-small.ts'
import type { Repository } from './repository.ts'
import { Rule, type RuleSource } from './rule.ts'

const MAX_CONFIG_BYTES = 1 << 20

/** The settings; undefined without git. @throws UsageError if git fails or takes too long */
const read = (env: EnvironmentVariables, root?: string): Promise<readonly GitSetting[] | undefined> =>
  readSettings(env, root).catch((error: unknown) => {
    if (!(error instanceof GitFailed)) throw error
    if (error.isMissing) return undefined
    throw new UsageError(`git config of ${root ?? 'the user'}: ${error.message}`, { cause: error })
  })

/** Whether a repository may have settings of Tracebook, itself or in files that it includes. */
const mayHaveRules = async ({ commonDir, gitDir }: Repository): Promise<boolean> => {
  const files = [join(commonDir, 'config'), join(gitDir, 'config.worktree')]
  const texts = await Promise.all(files.map((file) => readSmallFile(file, MAX_CONFIG_BYTES)))
  return texts.some((text) => text !== undefined && /tracebook|include/i.test(text))
}

/** Git's configuration, as it was when it was first asked for. */
export type GitConfig = {
  /**
   * The settings `tracebook.*` in a repository, or outside of all. Throws UsageError if they cannot be read: git cannot parse a file,
   * does not trust the repository, or is not installed.
   */
  readonly rules: (repository: Repository | undefined) => Promise<readonly GitSetting[]>
  /** All settings in a repository; none if git cannot read them. */
  readonly settings: (repository: Repository) => Promise<readonly GitSetting[]>
}

/** Git is run once for all, and once for each repository that may have settings of Tracebook. */
export const newGitConfig = (env: EnvironmentVariables): GitConfig => {
  let global: Promise<readonly GitSetting[]> | undefined
  const repositories = new Map<string, ReturnType<typeof read>>()
  const once = (repository: Repository) => {
    const settings = repositories.get(repository.root) ?? read(env, repository.root)
    repositories.set(repository.root, settings)
    return settings
  }
  const settingsFor = async (repository: Repository | undefined): Promise<readonly GitSetting[]> => {
    const shared = await (global ??= read(env).then((settings = []) => settings))
    const isConditional = shared.some(({ name }) => name.startsWith('includeif.'))
    if (!repository || !(isConditional || (await mayHaveRules(repository)))) return shared
    const settings = await once(repository)
    if (!settings)
      throw new UsageError(`${repository.root}: its git configuration cannot be read, because git is not installed`)
    if (!settings.some(({ isLocal }) => isLocal))
      throw new UsageError(
        `${repository.root}: git does not trust its configuration: see safe.directory in "git help config"`,
      )
    return settings
  }
  return {
    rules: async (repository) => (await settingsFor(repository)).filter(({ name }) => name.startsWith('tracebook.')),
    settings: async (repository) => (await once(repository).catch(() => undefined)) ?? [],
  }
}

/** A boolean in any form that git accepts; undefined for another text. */
const booleanOf = (value: string | undefined): boolean | undefined => {
  if (value === undefined || /^(?:true|yes|on|0*[1-9]\d*)$/i.test(value)) return true
  return /^(?:false|no|off|0*)$/i.test(value) ? false : undefined
}

/** The rule of some settings `tracebook.*`: of each name the last one counts; an empty value unsets the earlier ones. */
const ruleOf = (settings: readonly GitSetting[], place: string): Rule => {
  const last = new Map(settings.map(({ name, value }) => [name.slice('tracebook.'.length), value]))
  const textOf = (name: string) => last.get(name)?.trim() || undefined
  const rule = {
    ...(textOf('namespace') === undefined ? {} : { namespace: textOf('namespace') }),
    ...(textOf('visibility') === undefined ? {} : { visibility: textOf('visibility') }),
    ...(last.has('never') ? { never: booleanOf(last.get('never')) ?? last.get('never') } : {}),
  }
  const { data, error } = Rule.safeParse(rule)
  const [issue] = error?.issues ?? []
  if (issue) throw new UsageError(`${place}: tracebook.${issue.path.join('.')}: ${issue.message}`)
  return data!
}

/** The rules of git's settings. Throws UsageError for an invalid value. */
export const gitRules = (
  settings: readonly GitSetting[],
  root: string | undefined,
): { readonly local: RuleSource; readonly global: RuleSource } => {
  const [local, global] = [`git config of ${root}`, 'git config --global']
  return {
    local: {
      place: local,
      rule: ruleOf(
        settings.filter(({ isLocal }) => isLocal),
        local,
      ),
    },
    global: {
      place: global,
      rule: ruleOf(
        settings.filter(({ isLocal }) => !isLocal),
        global,
      ),
    },
  }
}
