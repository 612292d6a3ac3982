import { Command } from 'commander'
import { clientEnvironment } from './client-environment.ts'
import { type ClientOptions, clientCommand } from './support/client-command.ts'
import type { Help } from './support/help.ts'

const help: Help = {
  about: `
Shows how things stand: whether the server answers, who you are there, which namespace is active, and how
many sessions of this machine wait to be sent, by what was sent before; no session is read for that. "watching"
is "tracebook sync --watch", where it runs.`,
  examples: [['tracebook status'], ['tracebook status --json | jq .waiting', 'for a prompt or a script']],
  documents: [
    ['{"type":"status","version","server","isDefault","service","login"?,"waiting"?,"watcher"?,"exitCode"}'],
    ['    service: {"is","degraded"?,"missing"?,"why"?,"logId"?}; is: ready, not ready, out of reach'],
    ['    login: {"valid"?,"user","namespace"?,"role"?,"expiresAt"?}; valid is absent when nobody was asked'],
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
