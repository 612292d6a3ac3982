import { Command, Option } from 'commander'
import { visibilities } from '../sync/upload/upsert-trace.ts'
import { clientCommand } from './support/client-command.ts'
import type { Help } from './support/help.ts'
import type { Options } from './run/import.ts'

const help: Help = {
  about: `
Puts back what "tracebook export --format json" wrote: the session under its id, its messages
with their ids, order, times and parts. The whole file is checked first; a damaged one, or
one that is no export, is refused before anything is written.

A session that is there keeps its messages and gets those of the file. A repetition changes
nothing, so an import that was interrupted is simply run again.

A new session gets the visibility of the file, but is never public without
--visibility public. One that is there keeps its own; when it is public, say with
--visibility who may read what is imported.`,
  examples: [
    ['tracebook import session.json', 'into the namespace of your login'],
    ['tracebook import session.json --namespace team --visibility direct'],
    ['tracebook import session.json --json', 'tell a script what was written'],
  ],
  documents: [
    ['{"type":"problem","kind","file","externalId"?,"message"}', 'a message that was left out'],
    ['{"type":"notice","file","externalId","message"}', 'for example: stored under another id'],
    [
      '{"type":"import","file","externalId","namespace","visibility","messages","new","updated","leftOut","others","exitCode"}',
      'the last one; others: messages that the file has not',
    ],
  ],
  exitCodes: {
    0: 'all is there',
    1: 'the file is damaged, the server refused, or a message was left out',
    2: 'wrong usage, or not logged in',
  },
}

/** `tracebook import`: puts an exported session back. Output and exit codes in its help. */
export const importCommand = (): Command =>
  clientCommand<Options, [string]>(
    new Command('import')
      .argument('<file>', 'the file')
      .addOption(new Option('--visibility <visibility>', 'who may read the session').choices(visibilities)),
    {
      help,
      namespace: 'the namespace to import into (default: the one of your login)',
      run: async (...args) => (await import('./run/import.ts')).importFile(...args),
    },
  )
