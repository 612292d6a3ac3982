import { Command } from 'commander'
import { newApi } from '../sync/client.ts'
import { ending, exitOnUsage } from '../sync/command-end.ts'
import { configFolder, isExposed, serverAddress } from '../sync/config.ts'
import { exitCodes } from '../sync/exit-codes.ts'
import { logIn } from '../sync/login.ts'

const help = `
Makes a random device id and logs in with it; the token is kept in a file that only
you can read, one for each server. Run it again when a session has ended.

Environment:
  TRACEBOOK_URL         the server, when --server is not given
  TRACEBOOK_CONFIG_DIR  the folder for tokens and state, instead of the platform's own

Exit codes: 0 logged in, 1 the server refused or did not answer, 2 wrong usage`

const run = async (given: string | undefined): Promise<number> => {
  const server = serverAddress(given, process.env)
  const config = configFolder(process.env)
  if (isExposed(server)) console.error(`Warning: ${server} is not encrypted; others on the way can read your token.`)
  const { userId, displayName, namespaceSlug } = await logIn(config, server, newApi)
  const who = displayName === undefined ? `user ${userId}` : `${displayName} (user ${userId})`
  const address = given === undefined ? '' : ` --server ${server}`
  console.log(`Logged in to ${server} as ${who}, namespace ${namespaceSlug}.`)
  console.log(`Next: upload your sessions with: tracebook sync${address}`)
  return exitCodes.ok
}

/** `tracebook login`: logs this device in. Exit codes in its help. */
export const loginCommand = (): Command =>
  new Command('login')
    .description('Log this device in to a Tracebook server')
    .option('--server <url>', 'the server (default: $TRACEBOOK_URL or http://127.0.0.1:3000)')
    .addHelpText('after', help)
    .exitOverride(exitOnUsage)
    .action(({ server }: { readonly server?: string }) => ending(() => run(server)))
