import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { EnvironmentVariables } from '../agents/agent.ts'
import { askGit, withoutGitVariables } from './git.ts'
import { addGitHook, hasGitHook, hookIn, type MarkedBlock, markedBlock, removeGitHook } from './git-hook.ts'
import { type Hook, hookLine, type HookProgram } from './hook.ts'
import { rewriteFile, textOf } from './rewrite-file.ts'

/** All hooks that git looks for: once `core.hooksPath` names our folder, git does not look into the repository itself. */
const HOOKS =
  'applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit ' +
  'pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update ' +
  'reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate post-index-change'

/** Runs the hook of that name that the repository itself has. */
const OWN_HOOK = `#!/bin/sh
# Written by "tracebook hooks install git --global": runs the repository's own hook.
hook="$(git rev-parse --git-common-dir)/hooks/\${0##*/}"
[ ! -x "$hook" ] || exec "$hook" "$@"
`

const BEGIN = '# >>> tracebook hooks install git --global'
const END = '# <<< tracebook hooks'
const ENDED_LINE = ' (it ended the line above)'
const sectionIn = (text: string) => markedBlock(text, BEGIN, END)

const quoted = (text: string): string => `"${text.replace(/[\\\\"]/g, '\\\\$&')}"`

const addSection = (text: string, hooks: string): string => {
  const isOpen = text !== '' && !text.endsWith('\n')
  const note = isOpen ? ENDED_LINE : ''
  return `${text}${isOpen ? '\n' : ''}${BEGIN}${note}\n[core]\n\thooksPath = ${quoted(hooks)}\n${END}\n`
}

const removeSection = ({ before, first, after }: MarkedBlock): string =>
  (first.endsWith(ENDED_LINE) ? before.slice(0, -1) : before) + after

/** The hook of all repositories of the user: in the folder that `core.hooksPath` names, or in a folder of Tracebook, which it names afterwards. */
export const globalHook = (home: string, state: string, variables: EnvironmentVariables): Hook => {
  const env = withoutGitVariables(variables)
  const own = join(state, 'git-hooks')
  const xdg = join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'git', 'config')
  const config = () => {
    const file = env['GIT_CONFIG_GLOBAL'] || join(home, '.gitconfig')
    return !existsSync(file) && !env['GIT_CONFIG_GLOBAL'] && existsSync(xdg) ? xdg : file
  }
  const folder = async () => (await askGit(['config', '--global', '--type=path', 'core.hooksPath'], home, env)) ?? own
  const file = async () => hookIn(await folder())

  const makeOwn = async () => {
    await mkdir(own, { recursive: true })
    for (const name of HOOKS.split(' ')) await writeFile(join(own, name), OWN_HOOK, { mode: 0o755 })
    const text = await textOf(config())
    await rewriteFile(config(), addSection(text ?? '', own))
  }
  const removeOwn = async () => {
    await rm(own, { recursive: true, force: true })
    const text = await textOf(config())
    const section = sectionIn(text ?? '')
    if (!section) return
    const rest = removeSection(section)
    if (rest === '') await rm(config())
    else await rewriteFile(config(), rest)
  }
  return {
    file,
    isInstalled: async () => hasGitHook(await file()),
    install: async (program: HookProgram) => {
      const line = hookLine('git', program, false)
      if ((await folder()) === own && !sectionIn((await textOf(config())) ?? '')) await makeOwn()
      return addGitHook(await file(), line)
    },
    uninstall: async () => {
      const path = await file()
      const isRemoved = await removeGitHook(path)
      if (dirname(path) === own) await removeOwn()
      return isRemoved
    },
  }
}
