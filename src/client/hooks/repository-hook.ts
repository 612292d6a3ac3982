import { realpath } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { commandName } from '../../cli/command-name.ts'
import { UsageError } from '../../cli/exit.ts'
import type { EnvironmentVariables } from '../agents/agent.ts'
import { askGit, withoutGitVariables } from './git.ts'
import { addGitHook, GIT_HOOK, hasGitHook, hookIn, removeGitHook } from './git-hook.ts'
import { type Hook, hookLine, type HookProgram } from './hook.ts'
import { textOf } from './rewrite-file.ts'

const isIn = (path: string, folder: string): boolean => path === folder || path.startsWith(folder + sep)

const real = (path: string): Promise<string> => realpath(path).catch(() => path)

/** The folders of the repository at `cwd`. Throws UsageError outside of one. */
const repositoryAt = async (cwd: string, env: EnvironmentVariables) => {
  const ask = async (...args: readonly string[]) => {
    const answer = await askGit(['rev-parse', ...args], cwd, env)
    if (answer === undefined)
      throw new UsageError(`${cwd} is not in a git repository: run this in one, or use --global`)
    return real(resolve(cwd, answer))
  }
  return {
    top: await ask('--show-toplevel'),
    git: await ask('--git-common-dir'),
    hooks: await ask('--git-path', 'hooks'),
  }
}

/** Programs that write the hooks of a repository themselves, and where each expects commands. */
const managers = (top: string) => [
  { name: 'husky', owns: (hooks: string) => isIn(hooks, join(top, '.husky')), where: `.husky/${GIT_HOOK}` },
  { name: 'lefthook', owns: (_hooks: string, text: string) => /\blefthook\b/i.test(text), where: 'lefthook.yml' },
]

const refusal = (why: string, line: string) =>
  new UsageError(
    `${why}:\n    ${line}\nOr install the hook for all your repositories: ${commandName} hooks install git --global`,
  )

/** The hook of the repository at `cwd`. */
export const repositoryHook = (cwd: string, variables: EnvironmentVariables): Hook => {
  const env = withoutGitVariables(variables)
  const file = async () => hookIn((await repositoryAt(cwd, env)).hooks)

  /** Throws if the file belongs to another program, or to other repositories as well. */
  const requirePlace = async (line: string) => {
    const { top, git, hooks } = await repositoryAt(cwd, env)
    const text = (await textOf(hookIn(hooks))) ?? ''
    const manager = managers(top).find(({ owns }) => owns(hooks, text))
    if (manager)
      throw refusal(`${manager.name} writes the hooks of this repository. Add this line to ${manager.where}`, line)
    if (isIn(hooks, git)) return
    if (isIn(hooks, top))
      throw refusal(
        `The hooks of this repository are in its own folder ${hooks}, which everybody who clones it gets. Add this line to ${GIT_HOOK} there`,
        line,
      )
    throw new UsageError(
      `core.hooksPath is ${hooks}, a folder that other repositories use too. To install the hook for all of them: ${commandName} hooks install git --global`,
    )
  }
  /** A repository keeps its hooks in one place for all of its worktrees. */
  const reach = async () => {
    const list = (await askGit(['worktree', 'list', '--porcelain'], cwd, env)) ?? ''
    const count = list.split('\n').filter((line) => line.startsWith('worktree ')).length
    return count > 1 ? `It is called for commits in all ${count} worktrees of this repository.` : undefined
  }
  return {
    file,
    reach,
    isInstalled: async () => hasGitHook(await file()),
    install: async (program: HookProgram) => {
      const line = hookLine('git', program, false)
      await requirePlace(line)
      return addGitHook(await file(), line)
    },
    uninstall: async () => removeGitHook(await file()),
  }
}
