import { Command } from 'commander'
import { runCommand } from '../cli/exit.ts'
import { clientEnvironment } from './client-environment.ts'
import type { Options } from './run/agents.ts'

const help = `
Shows where each agent keeps its sessions, how many there are, and which of them sync would
look at: new ones, those that may have changed since they were sent, and unchanged ones. That
is told by what this machine has sent to the namespace of its login; the server is not asked.
Without a login, sessions are only counted. Of what sync has looked at before it is also told
what rules leave out, send to another namespace, or hold until you agree ("sync --help"); of what
is new, "sync --dry-run" tells it. Of an agent that deletes old sessions, as Claude Code does after the
cleanupPeriodDays of its settings.json (30), it is told how many of them go within a week.

Examples:
  tracebook agents
  tracebook agents --json   # for scripts

With --json, stdout holds one JSON document a line:
  {"type":"agent","id","name","places":[{"path","exists"}],"files","sessions",
   "new"?,"changed"?,"unchanged"?,"ruled":[{"status","why","sessions"}],"expiring":{"sessions","unsent"?}}
      ruled: not among the three before; status: excluded, held, elsewhere, failed
  {"type":"problem","kind":"unreadable","file","message"}
      expiring: those that the agent deletes within a week; unsent are those of them that sync would send
  {"type":"summary","server","namespace"?,"files","sessions","new"?,"changed"?,"unchanged"?,
   "expiring":{"sessions","unsent"?},"unreadable","exitCode"}
      the last one; without a login there is no namespace
  {"type":"error","message","exitCode"}   instead, when it failed

${clientEnvironment}

Exit codes:
  0  all is well
  1  a folder, file, database or rule could not be read
  2  wrong usage`

/** `tracebook agents`: what coding agents keep on this machine, and what of it `sync` would look at. */
export const agentsCommand = (): Command =>
  new Command('agents')
    .option('--server <url>', 'the server (default: $TRACEBOOK_URL, else that of the last login)')
    .option('--json', 'JSON on stdout, a document a line')
    .addHelpText('after', help)
    .action((options: Options) =>
      runCommand(async () => (await import('./run/agents.ts')).showAgents(options), options.json),
    )
