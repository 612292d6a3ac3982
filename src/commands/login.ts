import { Command } from 'commander'
import { commandName } from '../cli/command-name.ts'
import { escapeControls } from '../cli/escape.ts'
import { runCommand, exitOnUsage, exitCodes, UsageError } from '../cli/exit.ts'
import { newApiClient } from '../sync/api/client.ts'
import { configDir, isUnencrypted, serverAddress } from '../sync/config.ts'
import { logInWithCodehost } from '../sync/login/codehost-login.ts'
import { logInWithDevice } from '../sync/login/device-login.ts'
import { newTerminalPrompts } from '../sync/login/terminal-prompts.ts'

type Options = {
  readonly server?: string
  readonly codehost?: boolean
  readonly namespace?: string
  readonly invite?: string
  readonly browser: boolean
  readonly yes?: boolean
}

const help = `
Makes a random device id and logs in with it; the token is kept in a file that only
you can read, one for each server. Run it again when a session has ended.

With --codehost you sign in as yourself at the server's code host, in a browser: it is
opened, or open the address that is shown. The browser brings the code back by itself;
where it cannot (it runs on another machine), paste the code, or the address that it
ends at. With --no-browser the browser shows a code for you to paste. Before anything
is joined, the account, this device and the user are named, and you are asked; --yes
answers for you. Without a terminal nobody can be asked: --yes is needed there.

A server may let in only who is invited: --invite takes the code of an invite, and
makes you a member of its namespace as you sign up.

Environment:
  TRACEBOOK_URL         the server, when --server is not given
  TRACEBOOK_CONFIG_DIR  the folder for tokens and state, instead of the platform's own

Exit codes: 0 logged in, 1 the server refused or did not answer, 2 wrong usage`

const login = async (options: Options): Promise<number> => {
  const { codehost, namespace, invite, browser, yes } = options
  if (namespace !== undefined && !codehost) throw new UsageError('--namespace goes with --codehost')
  if (yes && !codehost) throw new UsageError('--yes goes with --codehost: nothing else is joined')
  const server = serverAddress(options.server, process.env)
  const config = configDir(process.env)
  if (isUnencrypted(server))
    console.error(`Warning: ${server} is not encrypted; others on the network can read your token.`)
  const prompts = newTerminalPrompts({ opensBrowser: browser, assumeYes: yes ?? false })
  const { userId, displayName, namespaceSlug } = codehost
    ? await logInWithCodehost(
        { config, server, slug: namespace, inviteCode: invite, isLocal: browser, prompts },
        newApiClient,
      )
    : await logInWithDevice(config, server, newApiClient, invite)
  const who = displayName === undefined ? `user ${userId}` : `${displayName} (user ${userId})`
  const serverOption = options.server === undefined ? '' : ` --server ${server}`
  console.log(escapeControls(`Logged in to ${server} as ${who}, namespace ${namespaceSlug}.`))
  console.log(`Next: upload your sessions with: ${commandName} sync${serverOption}`)
  return exitCodes.ok
}

/** `tracebook login`: logs this device in. Exit codes in its help. */
export const loginCommand = (): Command =>
  new Command('login')
    .option('--server <url>', 'the server (default: $TRACEBOOK_URL or http://127.0.0.1:3000)')
    .option('--codehost', "sign in at the server's code host, in a browser")
    .option('--namespace <slug>', 'with --codehost: the namespace that the login is for')
    .option('--yes', 'with --codehost: join the account without being asked')
    .option('--invite <code>', 'an invite to sign up with, at a server that asks for one')
    .option('--no-browser', 'with --codehost: open no browser, paste the code')
    .addHelpText('after', help)
    .exitOverride(exitOnUsage)
    .action((options: Options) => runCommand(() => login(options)))
