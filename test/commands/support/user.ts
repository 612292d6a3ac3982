import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../../support/run-command.ts'

export type Variables = Readonly<Record<string, string>>

/** The environment of a command from the caller's shell, besides variables of its own. */
export const bareNeed = () => {
  const { PATH = '', TMPDIR = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  return { PATH, TMPDIR, HOME, NODE_COMPILE_CACHE }
}

/** The exit code of a command, or the signal that ended it, and its output. */
export type Ended = { readonly how: number | NodeJS.Signals; readonly out: string; readonly err: string }

/** Runs work with a temp folder that all users can enter, and removes the folder. */
export const inTemporary = async (work: (folder: string) => Promise<unknown>) => {
  const folder = await mkdtemp(join(tmpdir(), 'commands-'))
  try {
    await chmod(folder, 0o755)
    await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Runs a command to its end, in this process. Not for `serve`, which replaces its process. */
export const run = (args: readonly string[], variables: Variables): Promise<Ended> =>
  runCommand(args, { ...bareNeed(), ...variables })

/** A user of the command line: a folder with the tokens and another with Claude Code's files. */
export type User = {
  readonly config: string
  readonly claude: string
  /** The environment variables of the user's commands. */
  readonly variables: Variables
  /** Runs a command to its end. */
  run(...args: readonly string[]): Promise<Ended>
}

/** `folder` holds all files of the user, `url` is the server that the user talks to, and `how` runs commands: by default in this process. */
export const newUser = (folder: string, url: string, how: typeof run = run): User => {
  const [config, claude] = [join(folder, 'config'), join(folder, 'claude')]
  const variables = { TRACEBOOK_URL: url, TRACEBOOK_CONFIG_DIR: config, CLAUDE_CONFIG_DIR: claude, HOME: folder }
  return { config, claude, variables, run: (...args) => how(args, variables) }
}
