import { execFile } from 'node:child_process'
import { devNull } from 'node:os'
import { dirname, join, parse } from 'node:path'
import { UsageError } from '../../cli/exit.ts'
import type { EnvironmentVariables } from '../agents/agent.ts'
import { readSmallFile } from './read-small.ts'
import type { Repository } from './repository.ts'
import { Rule, type RuleSource } from './rule.ts'

/** One setting; of several with one name the last one wins. `value` is undefined for one without `=`. */
export type GitSetting = {
  readonly isLocal: boolean
  /** In lower case but for the part between its dots. */
  readonly name: string
  readonly value: string | undefined
}

const TIME_LIMIT_MS = 5_000
const MAX_OUTPUT_BYTES = 4 << 20
const MAX_CONFIG_BYTES = 1 << 20

/** The variables of git that are passed on: others could name another repository, as they do inside of a hook. */
const KEPT = new Set(['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM'])

const gitEnvironment = (env: EnvironmentVariables, more: Readonly<Record<string, string>>) => ({
  ...Object.fromEntries(Object.entries(env).filter(([name]) => !/^GIT_/i.test(name) || KEPT.has(name))),
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
  ...more,
})

/**
 * A repository's configuration can name programs to run. `git config` runs none of them; should a later version do so, these settings
 * switch them off. A folder inside of a clone that only looks like a bare repository is not used.
 */
const SAFE = ['-c', 'core.fsmonitor=false', '-c', `core.hooksPath=${devNull}`, '-c', 'safe.bareRepository=explicit']

type Run = {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly where: string
}

/** What `git config` prints; undefined without git. Throws UsageError if git fails or takes too long. */
const runGitConfig = ({ args, env, where }: Run): Promise<string | undefined> => {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>()
  const options = {
    // Not in the repository's folder, which could contain a program with the name git.
    cwd: parse(process.execPath).root,
    env,
    timeout: TIME_LIMIT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_OUTPUT_BYTES,
    windowsHide: true,
  } as const
  const child = execFile('git', [...args], options, (error, stdout, stderr) => {
    if (!error) return resolve(stdout)
    if (error.code === 'ENOENT') return resolve(undefined)
    reject(new UsageError(`git config of ${where}: ${error.killed ? 'took too long' : stderr.trim() || error.message}`))
  })
  child.stdin?.end()
  return promise
}

const settingOf = (text: string, isLocal: boolean): GitSetting => {
  const end = text.indexOf('\n')
  if (end === -1) return { isLocal, name: text, value: undefined }
  return { isLocal, name: text.slice(0, end), value: text.slice(end + 1) }
}

/** The settings of the user and of the machine; none without git. */
const readGlobal = async (env: EnvironmentVariables): Promise<readonly GitSetting[]> => {
  const args = ['config', '--list', '--null']
  const output = await runGitConfig({ args, env: gitEnvironment(env, { GIT_DIR: devNull }), where: 'the user' })
  return (output ?? '')
    .split('\0', -1)
    .filter(Boolean)
    .map((text) => settingOf(text, false))
}

/** The settings in a repository; undefined without git. */
const readIn = async ({ root }: Repository, env: EnvironmentVariables): Promise<readonly GitSetting[] | undefined> => {
  const args = [...SAFE, '-C', root, 'config', '--list', '--null', '--show-scope']
  const more = { GIT_CEILING_DIRECTORIES: dirname(root) }
  const output = await runGitConfig({ args, env: gitEnvironment(env, more), where: root })
  if (output === undefined) return undefined
  const fields = output.split('\0')
  const settings: GitSetting[] = []
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const scope = fields[i]!
    if (scope !== 'command') settings.push(settingOf(fields[i + 1]!, scope === 'local' || scope === 'worktree'))
  }
  return settings
}

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
  const repositories = new Map<string, ReturnType<typeof readIn>>()
  const once = (repository: Repository) => {
    const settings = repositories.get(repository.root) ?? readIn(repository, env)
    repositories.set(repository.root, settings)
    return settings
  }
  const read = async (repository: Repository | undefined): Promise<readonly GitSetting[]> => {
    const shared = await (global ??= readGlobal(env))
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
    rules: async (repository) => (await read(repository)).filter(({ name }) => name.startsWith('tracebook.')),
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
