import { Command } from 'commander'
import { runCommand } from '../../cli/exit.ts'

const help = `
Puts a whole exported log into an empty one, with the ids, revisions and times of its events. All of the file
is checked first: nothing is written from one that was changed or cut off. A file of one namespace or trace is
refused: users and sessions are not in it. Broken off, also with Ctrl-C, another run goes on.

The target is what --to names, as \`tracebook log copy\` does, else EVENTSTORE_URL, else DATABASE_URL, else the
PostgreSQL of DATA_DIR, which is started for it; there the service has to be stopped. Start the service on it
afterwards, with a log in EventStoreDB on an empty database: it builds the read models. The log is a new one, with
another logId. Pictures of namespaces are not
in a log: bring the table tracebook.avatars along.

Examples:
  tracebook audit import log.ndjson

Exit codes:
  0  imported and verified
  1  failed, refused (the file is not whole, or the log not empty), or stopped before the end
  2  wrong usage`

/** `tracebook audit import` */
export const importCommand = (): Command =>
  new Command('import')
    .description('Put an exported log into an empty one')
    .argument('<file>', 'as `tracebook audit export` writes it')
    .option('--to <log>', 'the log to write: a URL, or `embedded`')
    .addHelpText('after', help)
    .action((file: string, { to }: { readonly to?: string }) =>
      runCommand(async () => (await import('./run/import.ts')).importLog(file, to)),
    )
