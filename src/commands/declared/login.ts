import { Command } from 'commander'
import { secretHelp } from '../../cli/secret.ts'
import { clientCommand, jsonOption, serverOption, withAction } from './command.ts'
import { sessionsEnvironment } from './help.ts'
import { shortName, someText } from './values.ts'

const loginHelp = `
Examples:
  tracebook login                                       # the server of the last login, else this machine's
  tracebook login --server https://traces.example.org   # other commands use it from now on
  tracebook login --codehost                            # with your account at the server's code host

Creates a random device id and logs in with it. The token is stored in a file that only you can
read, one for each server. Run it again when a session has ended.

With --codehost you sign in with your account at the server's code host, in a browser. It is opened
for you; otherwise open the address that is shown. The browser returns the code by itself. If it
cannot, because it runs on another machine, paste the code, or the address at which it ends. With
--no-browser the browser shows a code for you to paste. Before an account, this device and a user are
joined, they are named and you are asked to confirm; without a terminal, --yes is required.

To add a second machine as another device of yours, use --join with the code that
"tracebook devices add" prints on a machine that is logged in. It needs no code host.

  tracebook login --server https://traces.example.org --join 4F7K-9QWE-2M8T-X6RB-0ZHA
  tracebook login --join              # asks for the code, and does not show it

${secretHelp('TRACEBOOK_JOIN_CODE')}

If this machine already has a user on that server, --join is refused. With --new-device it gets a new
device id and joins the other user; you are asked to confirm, or use --yes.

If a server that you know has got another address, the new address has the same log. On a terminal you are
asked whether it is the same service; then this machine joins your user there by a one-time code, and
what was stored here for the former address holds for the new one: what was uploaded, rules, "watch",
hooks and "mcp install". Without a terminal it says which commands do this, and makes nothing; only where both
are addresses of this machine, as those of a proxy are, it joins your user there, and both are kept. So it does
where a known address has another log than before: with --accept-log this machine logs in as before, if
the log was copied; with --new-device it becomes a new user.

A server may require an invite: --invite takes the code of an invite, and makes you a member of its
namespace as you sign up. The code is given in the same ways.

Others see you by your name, and your sessions are in a namespace with a slug, as in the address
/@ada. Both are yours to choose as you sign up: --name and --slug give them, and on a terminal you are
asked for those that are missing, with a proposal that Enter takes. Without an answer, with --yes, --json
or --no-input, and in continuous integration (CI is set), a new user has no name, but for that of the
account at a code host, and a generated slug. So it is for a slug that is taken or not allowed, which is
said. "tracebook whoami --set-name" sets a name later; the slug stays.

  tracebook login --name "Ada Lovelace" --slug ada
  tracebook login --invite a1B2c3D4e --name "Ada Lovelace"

With --json, stdout holds one JSON document:
  {"type":"login","server","userId","displayName"?,"namespace","slugRefused"?}
  {"type":"error","message","exitCode"}   instead, when it failed

Environment:
  TRACEBOOK_URL         the server, when --server is not given
  TRACEBOOK_CONFIG_DIR  the folder for tokens and settings, instead of the platform's own
  TRACEBOOK_JOIN_CODE, TRACEBOOK_INVITE_CODE
                        the codes of --join and --invite, when these have no value

Exit codes:
  0  logged in
  1  the server refused, or did not answer
  2  wrong usage, an unknown code, or not confirmed`

const login = (): Command =>
  withAction(
    new Command('login')
      .addOption(serverOption())
      .option('--codehost', "sign in at the server's code host, in a browser")
      .option('--namespace <slug>', 'with --codehost: the namespace that the login is for')
      .option('--join [code]', 'become another device of the user who made the code; -: read it from standard input')
      .option('--new-device', 'give this machine a new device id where it already has a user')
      .option('--accept-log <id>', 'log in as before, though the server has another log than before')
      .option('--yes', 'with --codehost or --new-device: confirm without being asked')
      .option('--invite [code]', 'sign up with an invite, if the server requires one; -: read it from standard input')
      .option('--name <name>', 'set your name, which others see', shortName)
      .option('--slug <slug>', 'the slug of your own namespace, if you are a new user', someText)
      .option('--no-input', 'do not ask a new user for a name and a slug')
      .addOption(jsonOption())
      .option('--no-browser', 'with --codehost: open no browser, paste the code'),
    loginHelp,
    async () => (await import('../login.ts')).login,
  )

const logout = (): Command =>
  clientCommand(
    new Command('logout')
      .option('--all', 'log out of every server')
      .option('--force', 'remove the tokens even if the server does not answer'),
    {
      help: {
        about: `
Ends the sessions of this machine on the server and removes their tokens. The machine stays a device of
yours: "tracebook login" makes you the same user again; "tracebook devices remove" ends that too. What
was uploaded stays. If the server does not answer, the tokens are kept, unless --force is given.`,
        examples: [
          ['tracebook logout'],
          ['tracebook logout --all', 'of every server that this machine is logged in to'],
          ['tracebook logout --force', 'a server that no longer exists'],
        ],
        documents: [
          ['{"type":"logout","server","result"}', 'for each server; result: ended, forgotten, not logged in'],
        ],
        exitCodes: {
          0: 'logged out, or was not logged in',
          1: 'a server refused, or did not answer',
          2: 'wrong usage',
        },
      },
      namespace: false,
      load: async () => (await import('../logout.ts')).logout,
    },
  )

const whoami = (): Command =>
  clientCommand(new Command('whoami').option('--set-name <name>', 'set your name, which others see', shortName), {
    help: {
      about: `
Shows who this machine is logged in as: the user, the active namespace with your role in it, and until
when the session lasts. It asks the server, so it also checks whether the login is still valid. --set-name
first sets your name: it is shown next to what you share, and to the members of your namespaces.`,
      examples: [
        ['tracebook whoami'],
        ['tracebook whoami --set-name "Ada Lovelace"'],
        ['tracebook whoami --server https://traces.example.org'],
        ['tracebook whoami --json | jq -r .namespace.slug', 'for scripts'],
      ],
      documents: [
        ['{"type":"whoami","server","user","namespace"?,"role"?,"session"}', 'as GET /v1/session returns them'],
      ],
      exitCodes: { 0: 'logged in', 1: 'the server refused, or did not answer', 2: 'wrong usage, or not logged in' },
    },
    namespace: false,
    load: async () => (await import('../whoami.ts')).whoami,
  })

const status = (): Command =>
  clientCommand(new Command('status'), {
    help: {
      about: `
Shows whether the server answers, who you are there, which namespace is active, how many sessions are on
this machine, and how many of them were sent. No session is read for that. "expiring" counts the sessions
that their agent deletes within a week: Claude Code deletes sessions that were not written to for 30 days,
or for cleanupPeriodDays in its settings.json. "watching" shows a running "tracebook sync --watch".`,
      examples: [['tracebook status'], ['tracebook status --json | jq .waiting', 'for a prompt or a script']],
      documents: [
        [
          '{"type":"status","version","server","isDefault","service","login"?,"sessions","waiting"?,"watcher"?,"exitCode"}',
        ],
        ['    service: {"is","degraded"?,"missing"?,"why"?,"logId"?}; is: ready, not ready, out of reach'],
        ['    login: {"valid"?,"user","namespace"?,"role"?,"expiresAt"?}; valid is absent if it was not checked'],
        ['    sessions: {"here","sent"?,"unsent"?,"expiring":{"sessions","unsent"?},"linked"};'],
        ['      without a login it is not known what was sent. linked: folders and files that are left out.'],
        ['      expiring: deleted by their agent within a week; unsent: those not saved yet'],
        ['    waiting: {"new","changed","unchanged"}, numbers of sessions; absent without a login'],
        ['    watcher: {"pid","since"}, since in milliseconds since 1970; absent if none is running'],
      ],
      environment: sessionsEnvironment,
      exitCodes: {
        0: 'the server is ready, and you are logged in',
        1: 'the server is not ready, or out of reach, or did not say whether you are logged in',
        2: 'not logged in',
      },
    },
    namespace: false,
    load: async () => (await import('../status.ts')).showStatus,
  })

const token = (): Command =>
  clientCommand(new Command('token'), {
    help: {
      about: `
Prints the token of your login, for scripts that call the API. Anyone who has it can act as you until
"tracebook logout": keep it out of files and logs. The server is not asked; "tracebook whoami" checks
whether the token is still valid. With --namespace: the token of a session in that namespace.`,
      examples: [
        ['curl -H "authorization: Bearer $(tracebook token)" \\'],
        ['  "$TRACEBOOK_URL/v1/traces?limit=10"', 'the newest traces'],
        ['TOKEN=$(tracebook token --namespace my-team)', 'to write to my-team'],
      ],
      documents: [['{"type":"token","server","token"}']],
      exitCodes: { 0: 'printed', 1: 'the server refused, or did not answer', 2: 'wrong usage, or not logged in' },
    },
    namespace: 'print the token of a session in this namespace',
    load: async () => (await import('../token.ts')).printToken,
  })

const switchNamespace = (): Command =>
  clientCommand(new Command('switch').argument('[namespace]', 'the slug of the namespace'), {
    help: {
      about: `
Changes the active namespace of your login: new uploads go there, and lists show it. What was uploaded
before stays where it is. Without an argument it lists the namespaces that you are a member of, the active
one with a star. The option --namespace does the same for one command, without switching.`,
      examples: [['tracebook switch', 'list your namespaces'], ['tracebook switch my-team']],
      documents: [
        ['{"type":"switch","server","namespace"}', 'the namespace that is active now'],
        ['{"type":"namespace","active","namespace"}', 'without an argument: for each'],
      ],
    },
    namespace: false,
    load: async () => (await import('../switch.ts')).switchNamespace,
  })

export const loginCommands = { login, logout, whoami, status, token, switch: switchNamespace }
