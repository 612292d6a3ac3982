import { Argument, Command, Option } from 'commander'
import { visibilities } from '../../client/upload/upsert-trace.ts'
import { clientCommand, jsonOption, serverOption, withAction } from './command.ts'
import { type Help, helpText, sessionsEnvironment } from './help.ts'

const NAMESPACE_OF_UPLOADS = 'the namespace to upload to (default: that of your login)'

const syncHelp = `
Examples:
  tracebook sync                              # the sessions of all agents
  tracebook sync --dry-run                    # only show what would be sent, and where
  tracebook sync --namespace team ~/.codex    # some sessions, for a team
  tracebook sync --visibility public one.jsonl
                                              # publish one; asks first, and prints its link
  tracebook sync --watch                      # continue until Ctrl-C
  tracebook sync --json | jq 'select(.type == "problem")'

Uploads what is new since the last run; if nothing is new, nothing is written to the server.
Paths are session files, or folders that are searched with all their subfolders. Without paths,
it searches where Claude Code, Codex, Copilot CLI, Cursor, Gemini CLI, opencode, pi and Qwen Code
keep their sessions; "tracebook agents" shows what is there. Symbolic links in a searched folder are not
followed; linked folders and session files are named: give their path to upload what is there.

A new trace is private unless --visibility or a rule says otherwise. An existing trace keeps
its visibility; --visibility changes it, even if the session has not changed.
A session whose trace was deleted on the service is not uploaded again by any of your machines,
even if its file changes; --force uploads it again. --dry-run knows of such deletions only what
earlier runs have learned.

Rules say where the sessions of a project go, who may read new traces, and what is never sent.
The first of these that sets a value counts:
  the command line             --namespace, --visibility
  git config of the repository git config tracebook.namespace acme
                               git config tracebook.visibility private|direct|public
                               git config tracebook.never true
  tracebook.json in the configuration folder, for projects by their paths:
                               {"exclude": ["~/clients"],
                                "projects": [{"path": "~/work", "namespace": "acme"}]}
  .tracebook.json in the project or in a folder above, up to the root of its repository:
                               {"namespace": "acme", "visibility": "direct", "never": false,
                                "exclude": ["packages/billing", "**/scratch"]}
  git config --global          as above
Restrictions in a .tracebook.json always hold: never, exclude, and a visibility other than public.
If it names another namespace, you are asked to confirm, because it came with the project.
You are also asked before anything becomes public, and shown what would be visible. Without a
terminal such sessions are held back, and the exit code is 2; --yes confirms everything.

Ctrl-C ends the run: requests in flight are completed, and the same command continues where it
stopped. If the server is away, it is waited for up to two minutes. A line that is not a JSON
object, such as two lines joined by a crash, is skipped and reported once; with --strict that run
ends with 1. A message that the server refuses, and a file without a readable line, are reported
once, too, and that run ends with 1; later runs do not. --force reports all of them again.

With --watch it continues until Ctrl-C, and uploads each new line of a session within two seconds,
also of agents that are installed later. "tracebook watch install" has the system do that.

Secrets (keys, tokens, passwords, the values of .env files) are removed before anything is sent
and replaced by [redacted:<rule>]. Each is reported without its value, by rule and place, with a
hash. If it is not a secret, add that hash as a line to the file allowed-secrets in the
configuration folder. --no-redact sends everything unchanged.
A value may have been sent before a later line of the session shows that it is a secret. It is then
removed from the trace, the past of the trace is erased, and the run says so. If that is not possible,
it ends with 1 and says what erases it.

With --json, stdout holds one JSON document per line:
  {"type":"start","server","namespace","files","bytes"}
  {"type":"connection","state","message"}
      state: out of reach, busy, silent, back; replaced: the service was restored from a backup,
      or is another one, and gets again what it lacks; removed (with --watch): you are no longer in
      the namespace of the login
  {"type":"problem","kind","file","line"?,"bytes"?,"externalId"?,"title"?,"message"}
      bytes: how many bytes of the line are left out
      kind: line_skipped, none_understood, message_left_out, kinds_left_out, session_failed, unreadable,
      secret_in_history, state_failed (with --watch: the file cannot be written; uploads wait)
  {"type":"left_out","folders","files","message"}
      linked folders and session files, which are not searched unless they are named
  {"type":"notice","file","externalId"?,"title"?,"message"}
      for example: deleted on the service
  {"type":"redaction","file","externalId"?,"where","rule","hash"}
      a secret that was removed from a message, or from a field of the trace
  {"type":"session","file","externalId"?,"status","messages","new","updated","title"?,
   "project"?,"namespace"?,"visibility"?,"published"?,"why"?}
      status: synced, unchanged, empty, deleted (on the service: not uploaded), failed,
      excluded (by a rule), held (until you confirm)
      published: true if its trace has become public
  {"type":"not_sent","status","why","sessions"}
      how many sessions are excluded or held for one reason
  {"type":"stopping","message"}
      the run was interrupted, and waits for requests in flight
  {"type":"summary","dryRun","synced","unchanged","empty","deleted","excluded","held","failed",
   "messages","new","updated","skippedLines","skippedBytes","unknownParts","leftOutMessages","redacted",
   "exposed","stopped"?,"exitCode"}
      the last one
  with --watch there is no summary, but
  {"type":"watching","sessions","folders"}        everything found at first has been uploaded
  {"type":"folders","isWatched","everyMs"}        whether the system reports all changes; if not, folders are searched
  {"type":"error","message","exitCode"}   instead, when the run could not begin

${sessionsEnvironment}

Exit codes:
  0  success
  1  something failed, or was left out for the first time (a message, a session without a readable
     line; with --strict also a line), or a secret was found that had been sent before
  2  wrong usage, not logged in, or something needs your confirmation
  130, 143  ended by Ctrl-C or SIGTERM; with --watch that is 0`

const sync = (): Command =>
  withAction(
    new Command('sync')
      .argument('[path...]', 'session files, or folders to search')
      .addOption(serverOption())
      .option('--namespace <slug>', NAMESPACE_OF_UPLOADS)
      .addOption(new Option('--visibility <visibility>', 'who may read the traces').choices(visibilities))
      .option('--dry-run', 'show what would be uploaded, write nothing')
      .option('--force', 'upload again what was uploaded before')
      .option('--strict', 'end with exit code 1 if a line could not be read')
      .option('--project <folder>', 'only sessions whose agent worked in this folder, or below')
      .option('--watch', 'continue until Ctrl-C, and upload new content within two seconds')
      .addOption(new Option('--log-file <file>', 'with --watch: write reports to this file, with the time').hideHelp())
      .option('--no-redact', 'upload secrets, too (asks first; only on a terminal)')
      .option('--yes', 'confirm without being asked: sessions may go to another namespace, or become public')
      .addOption(jsonOption()),
    syncHelp,
    async () => (await import('../sync.ts')).sync,
  )

const watchHelp: Help = {
  about: `
Has the system run "sync --watch" in the background from now on, at low priority: as a systemd user unit on
Linux, as a launchd agent on macOS. It is restarted if it fails, and waits for a login if there is none.

The installation stores the paths of Node.js and of Tracebook, and the variables that say where sessions and
settings are: install again when they change. Secrets are always removed. On Linux the unit ends when you
log out; "loginctl enable-linger" keeps it running.`,
  examples: [
    ['tracebook watch install', 'for the server of TRACEBOOK_URL'],
    ['tracebook watch install --server https://traces.example.org --namespace my-team'],
    ['tracebook watch status'],
    ['tracebook watch uninstall', 'removes everything that install created'],
  ],
  documents: [
    ['{"type":"watch","server","installed","running","manager"?,"state"?,"file"?,"log"?,"watcher"?:{"pid","since"}}'],
    ['    running: whether any process watches the sessions of this machine for the server'],
  ],
  environment: sessionsEnvironment,
  exitCodes: {
    0: 'success; status: the sessions of this machine are watched',
    1: 'status: they are not watched; install: the system has no service manager',
    2: 'wrong usage, or not logged in',
  },
}

const watch = (): Command => {
  const part = (name: 'install' | 'status' | 'uninstall', description: string, namespace: string | false = false) =>
    clientCommand(new Command(name).description(description), {
      help: watchHelp,
      namespace,
      load: async () => (await import('../watch.ts'))[name],
    })
  return new Command('watch')
    .addHelpText('after', helpText(watchHelp))
    .addCommand(part('install', 'Have the system upload sessions as they are written', NAMESPACE_OF_UPLOADS))
    .addCommand(part('status', 'Show whether it is installed and running'))
    .addCommand(part('uninstall', 'Stop it, and remove everything that install created'))
}

const hooksHelp: Help = {
  about: `
An alternative to watching: Claude Code uploads a session after each turn and at its end, or git uploads the
sessions of a repository after each commit. The upload runs in the background: the program that calls the
hook does not wait for it, sees no output and never fails because of it. While "sync --watch" runs, hooks do
nothing.

Other hooks and settings in these files are kept; an existing hook keeps running. The installation stores the
paths of Node.js and of Tracebook: install again when they change.`,
  examples: [
    ['tracebook hooks install claude-code', 'in the settings of Claude Code'],
    ['tracebook hooks install git', 'after each commit in this repository'],
    ['tracebook hooks install git --global', 'after each commit in any repository'],
    ['tracebook hooks status'],
    ['tracebook hooks uninstall git', 'removes exactly what was installed'],
  ],
  documents: [['{"type":"hook","name","installed","file"?,"log"}', 'name: claude-code, git, git-global']],
  environment: sessionsEnvironment,
  exitCodes: { 0: 'success', 2: 'wrong usage, not logged in, or the hook cannot be installed here' },
}

const hooks = (): Command => {
  const kind = new Argument('<hook>', 'whose hook').choices(['claude-code', 'git'])
  const all = ['--global', 'for git: in all repositories'] as const
  const part = (name: string, description: string) => new Command(name).description(description)
  const shared = { help: hooksHelp, namespace: false } as const
  return new Command('hooks')
    .addHelpText('after', helpText(hooksHelp))
    .addCommand(
      clientCommand(
        part('install', 'Install a hook that uploads sessions')
          .addArgument(kind)
          .option(...all),
        { ...shared, load: async () => (await import('../hooks.ts')).install },
      ),
    )
    .addCommand(
      clientCommand(part('status', 'Show which hooks are installed, and where'), {
        ...shared,
        load: async () => (await import('../hooks.ts')).status,
      }),
    )
    .addCommand(
      clientCommand(
        part('uninstall', 'Remove a hook')
          .addArgument(kind)
          .option(...all),
        { ...shared, load: async () => (await import('../hooks.ts')).uninstall },
      ),
    )
    .addCommand(
      clientCommand(part('run', 'Called by a hook').addArgument(kind).argument('[args...]', 'what to upload'), {
        ...shared,
        load: async () => (await import('../hooks.ts')).run,
      }),
      { hidden: true },
    )
}

const agentsHelp = `
Shows where each agent keeps its sessions, how many there are, and which of them "sync" would read: new
sessions, sessions that may have changed since they were sent, and unchanged ones. This is based on what
this machine has sent to the namespace of its login; the server is not asked. Without a login, sessions
are only counted. For sessions that "sync" has read before, it also shows which of them rules exclude,
send to another namespace, or hold until you confirm ("sync --help"); for new ones use "sync --dry-run".
Some agents delete old sessions, as Claude Code does after the cleanupPeriodDays of its settings.json
(default: 30): for these it shows how many they delete within a week.

Examples:
  tracebook agents
  tracebook agents --json   # for scripts

With --json, stdout holds one JSON document per line:
  {"type":"agent","id","name","places":[{"path","exists"}],"files","sessions",
   "new"?,"changed"?,"unchanged"?,"ruled":[{"status","why","sessions"}],"expiring":{"sessions","unsent"?},
   "linked":[path]}
      linked: linked folders and session files, which are left out unless "sync" names them
      ruled: not among the three before; status: excluded, held, elsewhere, failed
  {"type":"problem","kind":"unreadable","file","message"}
      expiring: sessions that the agent deletes within a week; unsent: those of them that sync would send
  {"type":"summary","server","namespace"?,"files","sessions","new"?,"changed"?,"unchanged"?,
   "expiring":{"sessions","unsent"?},"linked","unreadable","exitCode"}
      the last one; without a login there is no namespace
  {"type":"error","message","exitCode"}   instead, when it failed

${sessionsEnvironment}

Exit codes:
  0  success
  1  a folder, file, database or rule could not be read
  2  wrong usage`

const agents = (): Command =>
  withAction(
    new Command('agents').addOption(serverOption()).addOption(jsonOption()),
    agentsHelp,
    async () => (await import('../agents.ts')).showAgents,
  )

export const sessionCommands = { sync, watch, hooks, agents }
