import { Command } from 'commander'
import { commandName } from '../cli/command-name.ts'
import { escapeControls } from '../cli/escape.ts'
import { runCommand, exitOnUsage, exitCodes, UsageError } from '../cli/exit.ts'
import { printDocument } from '../cli/output.ts'
import { newApiClient } from '../sync/api/client.ts'
import { configDir, isUnencrypted, serverAddress } from '../sync/config.ts'
import { serverKey } from '../sync/server-key.ts'
import { logInWithCodehost } from '../sync/login/codehost-login.ts'
import { logInWithDevice } from '../sync/login/device-login.ts'
import { newTerminalPrompts } from '../sync/login/terminal-prompts.ts'
import { noticedTiming } from './support/access.ts'
import { joinAsDevice } from './support/join-as-device.ts'

type Options = {
  readonly server?: string
  readonly codehost?: boolean
  readonly namespace?: string
  readonly invite?: string
  /** A code, or true where it is to be asked for. */
  readonly join?: string | true
  readonly newDevice?: boolean
  readonly browser: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

const help = `
Examples:
  tracebook login                                       # the server of the last login, else this machine's
  tracebook login --server https://traces.example.org   # other commands use it from now on
  tracebook login --codehost                            # as yourself at the server's code host

Makes a random device id and logs in with it; the token is kept in a file that only
you can read, one for each server. Run it again when a session has ended.

With --codehost you sign in as yourself at the server's code host, in a browser: it is
opened, or open the address that is shown. The browser brings the code back by itself;
where it cannot (it runs on another machine), paste the code, or the address that it
ends at. With --no-browser the browser shows a code for you to paste. Before anything
is joined, the account, this device and the user are named, and you are asked; --yes
answers for you. Without a terminal nobody can be asked: --yes is needed there.

A second machine becomes another device of yours with --join, and a code that
"tracebook devices add" prints on a machine that is logged in; it needs no code host.

  tracebook login --server https://traces.example.org --join 4F7K-9QWE-2M8T-X6RB-0ZHA
  tracebook login --join              # asks for the code, which no list of processes shows then

A machine that has a user of its own there already joins no other, unless --new-device
gives it a new device id; --yes answers the question whether that is meant.

A server may let in only who is invited: --invite takes the code of an invite, and
makes you a member of its namespace as you sign up.

With --json, stdout holds one JSON document:
  {"type":"login","server","userId","displayName"?,"namespace"}
  {"type":"error","message","exitCode"}   instead, when it failed

Environment:
  TRACEBOOK_URL         the server, when --server is not given
  TRACEBOOK_CONFIG_DIR  the folder for tokens and state, instead of the platform's own

Exit codes: 0 logged in, 1 the server refused or did not answer, 2 wrong usage`

/** Which commands use the login, and what to do with it. */
const whatIsNext = (server: string, options: Options): readonly string[] => {
  const named = process.env['TRACEBOOK_URL']
  const isOther = options.server !== undefined && named && serverKey(serverAddress(named, {})) !== serverKey(server)
  const sync = `Next: upload your sessions with: ${commandName} sync`
  if (isOther)
    return [`TRACEBOOK_URL names another server, ${named}: say which one is meant.`, `${sync} --server ${server}`]
  return options.server === undefined ? [sync] : ['Commands without --server use it from now on.', sync]
}

const login = async (options: Options): Promise<number> => {
  const { codehost, namespace, invite, browser, yes } = options
  if (namespace !== undefined && !codehost) throw new UsageError('--namespace goes with --codehost')
  if (yes && !codehost && !options.newDevice)
    throw new UsageError('--yes goes with --codehost or --new-device: nothing else is asked')
  if (options.newDevice && options.join === undefined) throw new UsageError('--new-device goes with --join')
  if (options.join !== undefined && (codehost || invite !== undefined))
    throw new UsageError('--join goes without --codehost and --invite: the user is there already')
  const server = serverAddress(options.server, process.env)
  const config = configDir(process.env)
  if (isUnencrypted(server))
    console.error(`Warning: ${server} is not encrypted; others on the network can read your token.`)
  const newClient = (url: string, token?: string) => newApiClient(url, token, noticedTiming)
  const prompts = newTerminalPrompts({ opensBrowser: browser, assumeYes: yes ?? false })
  const { userId, displayName, namespaceSlug } =
    options.join !== undefined
      ? await joinAsDevice({
          config,
          server,
          code: options.join,
          newDevice: options.newDevice ?? false,
          yes: yes ?? false,
        })
      : codehost
        ? await logInWithCodehost(
            { config, server, slug: namespace, inviteCode: invite, isLocal: browser, prompts },
            newClient,
          )
        : await logInWithDevice(config, server, newClient, invite)
  if (options.json) {
    const name = displayName === undefined ? {} : { displayName }
    await printDocument({ type: 'login', server, userId, ...name, namespace: namespaceSlug })
    return exitCodes.ok
  }
  const who = displayName === undefined ? `user ${userId}` : `${displayName} (user ${userId})`
  console.log(escapeControls(`Logged in to ${server} as ${who}, namespace ${namespaceSlug}.`))
  for (const line of whatIsNext(server, options)) console.log(escapeControls(line))
  return exitCodes.ok
}

/** `tracebook login`: logs this device in. Exit codes in its help. */
export const loginCommand = (): Command =>
  new Command('login')
    .option('--server <url>', 'the server (default: $TRACEBOOK_URL, else that of the last login)')
    .option('--codehost', "sign in at the server's code host, in a browser")
    .option('--namespace <slug>', 'with --codehost: the namespace that the login is for')
    .option('--join [code]', 'be another device of the user who has made the code')
    .option('--new-device', 'with --join: also where this machine has a user already, with a new device id')
    .option('--yes', 'with --codehost or --new-device: join without being asked')
    .option('--invite <code>', 'an invite to sign up with, at a server that asks for one')
    .option('--json', 'JSON on stdout, a document a line')
    .option('--no-browser', 'with --codehost: open no browser, paste the code')
    .addHelpText('after', help)
    .exitOverride(exitOnUsage)
    .action((options: Options) => runCommand(() => login(options), options.json))
