import { Command } from 'commander'
import { clientEnvironment } from './client-environment.ts'
import { type ClientOptions, clientCommand } from './support/client-command.ts'
import type { Help } from './support/help.ts'

const help: Help = {
  about: `
Shows how things stand: whether the server answers, who you are there, which namespace is active, how many
sessions are on this machine, and how many of them were sent; no session is read for that. "expiring" are
those that their agent deletes within a week: Claude Code deletes what nothing was written to for 30 days, or
for the cleanupPeriodDays of its settings.json. "watching" is "tracebook sync --watch", where it runs.`,
  examples: [['tracebook status'], ['tracebook status --json | jq .waiting', 'for a prompt or a script']],
  documents: [
    ['{"type":"status","version","server","isDefault","service","login"?,"sessions","waiting"?,"watcher"?,"exitCode"}'],
    ['    service: {"is","degraded"?,"missing"?,"why"?,"logId"?}; is: ready, not ready, out of reach'],
    ['    login: {"valid"?,"user","namespace"?,"role"?,"expiresAt"?}; valid is absent when nobody was asked'],
    ['    sessions: {"here","sent"?,"unsent"?,"expiring":{"sessions","unsent"?}}; without a login it is not known'],
    ['      what was sent. expiring: deleted by their agent within a week; unsent are those of them to be saved'],
    ['    waiting: {"new","changed","unchanged"}, sessions; absent without a login'],
    ['    watcher: {"pid","since"}, since in milliseconds since 1970; absent where none runs'],
  ],
  environment: clientEnvironment,
  exitCodes: {
    0: 'the server is ready, and you are logged in',
    1: 'it is not ready, out of reach, or does not say whether you are logged in',
    2: 'not logged in',
  },
}

/** `tracebook status`: the server, the login, and what waits to be sent. Output and exit codes in its help. */
export const statusCommand = (): Command =>
  clientCommand<ClientOptions>(new Command('status'), {
    help,
    namespace: false,
    run: async (...args) => (await import('./run/status.ts')).showStatus(...args),
  })
