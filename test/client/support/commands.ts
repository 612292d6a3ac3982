import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../../support/run-command.ts'
import { startServer, type TestServer } from './server.ts'
import { tempFolder } from './temp.ts'

/** A server of its own, a home folder, and in that the folder of Claude Code with two sessions. */
export type CommandContext = {
  server: TestServer
  home: string
  claude: string
  /** Variables beside those of the context. */
  variables?: Readonly<Record<string, string>>
  close: () => Promise<void>
}

/** The command line. */
export const entry = join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts')
const fixtures = join(import.meta.dirname, '..', '..', 'fixtures', 'sync')

export const newCommandContext = async (): Promise<CommandContext> => {
  const { path: home, remove } = tempFolder()
  const claude = join(home, 'claude')
  cpSync(fixtures, claude, { recursive: true })
  const server = await startServer()
  const close = async () => {
    await server.close()
    remove()
  }
  return { server, home, claude, close }
}

export const environment = ({ server, home, claude, variables = {} }: CommandContext): Record<string, string> => ({
  TRACEBOOK_URL: server.url,
  TRACEBOOK_CONFIG_DIR: join(home, 'config'),
  CLAUDE_CONFIG_DIR: claude,
  HOME: home,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
  ...variables,
})

/** Runs `tracebook` to its end, in this process. */
export const run = async (context: CommandContext, ...args: readonly string[]) => {
  const { how, out, err } = await runCommand(args, environment(context))
  return { code: how, out, err }
}

/** The JSON documents of an output, one a line. */
export const documents = (out: string): readonly Record<string, unknown>[] =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
