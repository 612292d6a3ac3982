import { Command } from 'commander'
import { runCommand } from '../cli/exit.ts'
import { secretHelp } from '../cli/secret.ts'
import { nameFrom } from './support/given-name.ts'
import type { Options } from './run/login.ts'

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
  tracebook login --join              # asks for the code, and does not show it

${secretHelp('TRACEBOOK_JOIN_CODE')}

A machine that has a user of its own there already joins no other, unless --new-device
gives it a new device id; --yes answers the question whether that is meant.

A server may let in only who is invited: --invite takes the code of an invite, and
makes you a member of its namespace as you sign up. It is given in the same ways.

Others see you by the name that --name gives you. On a terminal, --invite asks for one
if you have none; "tracebook whoami --set-name" gives one later.

  tracebook login --invite a1B2c3D4e --name "Ada Lovelace"

With --json, stdout holds one JSON document:
  {"type":"login","server","userId","displayName"?,"namespace"}
  {"type":"error","message","exitCode"}   instead, when it failed

Environment:
  TRACEBOOK_URL         the server, when --server is not given
  TRACEBOOK_CONFIG_DIR  the folder for tokens and settings, instead of the platform's own
  TRACEBOOK_JOIN_CODE, TRACEBOOK_INVITE_CODE
                        the codes of --join and --invite, when these have no value

Exit codes:
  0  logged in
  1  the server refused, or did not answer
  2  wrong usage, a code that nothing has, or not agreed to`

/** `tracebook login`: logs this device in. Exit codes in its help. */
export const loginCommand = (): Command =>
  new Command('login')
    .option('--server <url>', 'the server (default: $TRACEBOOK_URL, else that of the last login)')
    .option('--codehost', "sign in at the server's code host, in a browser")
    .option('--namespace <slug>', 'with --codehost: the namespace that the login is for')
    .option('--join [code]', 'be another device of the user who has made the code; -: read it')
    .option('--new-device', 'with --join: also where this machine has a user already, with a new device id')
    .option('--yes', 'with --codehost or --new-device: join without being asked')
    .option('--invite [code]', 'an invite to sign up with, at a server that asks for one; -: read it')
    .option('--name <name>', 'give yourself this name, which others see', nameFrom)
    .option('--json', 'JSON on stdout, a document a line')
    .option('--no-browser', 'with --codehost: open no browser, paste the code')
    .addHelpText('after', help)
    .action((options: Options) => runCommand(async () => (await import('./run/login.ts')).login(options), options.json))
