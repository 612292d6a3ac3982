import { Command } from 'commander'
import { runCommand } from '../cli/exit.ts'
import { freeLargeBlocks } from './free-large-blocks.ts'

const help = `
Configuration is environment variables; the README lists them all.

Examples:
  tracebook serve              # all in one process, at http://127.0.0.1:3000
  tracebook serve --roles api  # with DATABASE_URL: one node of several`

/** `tracebook serve`: runs the service until a signal stops it. */
export const serveCommand = (): Command =>
  new Command('serve')
    .option('--roles <list>', 'what this process does: api, projector, worker (default: all; also ROLES)')
    .addHelpText('after', help)
    .action((options: { readonly roles?: string }) =>
      runCommand(async () => {
        freeLargeBlocks()
        return (await import('./run/serve.ts')).start(options)
      }),
    )
