import { Command } from 'commander'
import { runCommand } from '../../cli/exit.ts'

const help = `
The rows of such a stream stay as they were before that event; reads of it and writes to it get 503, all
other streams are served. What to do:
  1. find out what is wrong with the event, or with the code or the database that refuses it
  2. mend that, and say \`tracebook log replay <stream>\`
  3. or give the event up: \`tracebook log skip --position <position> --why <text>\`

A line of --json: group, stream, position and revision (as text), eventId, type, reason, and at, when the
event happened, in milliseconds.

Examples:
  tracebook log quarantine
  tracebook log quarantine --json

Environment:
  DATABASE_URL  the database of the service
  DATA_DIR      without DATABASE_URL: the folder of a service that runs (default: data)

Exit codes:
  0  no stream is in quarantine
  1  the database could not be asked
  2  wrong usage
  3  streams are in quarantine`

/** `tracebook log quarantine` */
export const quarantineCommand = (): Command =>
  new Command('quarantine')
    .description('List the streams that are left aside since an event of theirs could not be applied')
    .option('--json', 'one JSON document a line')
    .addHelpText('after', help)
    .action(({ json = false }: { readonly json?: boolean }) =>
      runCommand(async () => (await import('./run/quarantine.ts')).list(json), json),
    )
