import { execFileSync } from 'node:child_process'
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { tempFolder } from '../../support/temp.ts'

/** A home folder of its own, by its real path, in which git has no configuration but what a test gives it. */
export const newHome = () => {
  const { path, remove } = tempFolder()
  const home = realpathSync(path)
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    GIT_CONFIG_GLOBAL: join(home, 'gitconfig'),
    GIT_CONFIG_NOSYSTEM: '1',
  }
  writeFileSync(env.GIT_CONFIG_GLOBAL, '[user]\n\tname = Ada\n\temail = ada@example.com\n')

  const gitWith = (env: NodeJS.ProcessEnv, folder: string, ...args: readonly string[]): string =>
    execFileSync('git', ['-C', folder, ...args], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const git = (folder: string, ...args: readonly string[]): string => gitWith(env, folder, ...args)
  /** Writes a file below the home folder, and gives its path. */
  const write = (file: string, content: string | object): string => {
    const whole = join(home, file)
    mkdirSync(dirname(whole), { recursive: true })
    writeFileSync(whole, typeof content === 'string' ? content : JSON.stringify(content))
    return whole
  }
  /** Makes a repository with one commit below the home folder, and gives its path. */
  const repository = (folder: string): string => {
    const root = join(home, folder)
    mkdirSync(root, { recursive: true })
    git(root, 'init', '--quiet', '--initial-branch=main')
    git(root, 'commit', '--quiet', '--allow-empty', '--message=first')
    return root
  }
  return { home, config: join(home, 'config'), env, git, gitWith, write, repository, remove }
}
export type Home = ReturnType<typeof newHome>
