import { Command } from 'commander'
import { runCommand } from '../../cli/exit.ts'

const help = `
Say this after a backup of the log was put back: what was written since that backup is lost, and clients that
wrote it are to know. Another epoch of the log begins, \`logId\` of \`GET /v1/session\` differs, and clients
upload what is missing. A service that runs notices it within a second; one that stands still, at its start. Nothing in
the log changes; saying it twice does no harm.

Examples:
  tracebook log restored
  DATABASE_URL=postgres://me@db/tracebook tracebook log restored

Environment:
  DATABASE_URL    the database of the service
  DATA_DIR        without DATABASE_URL: the folder of a service, whether it runs or not (default: data)
  EVENTSTORE_URL  the log, for a service that has it there; no database is needed then

Exit codes:
  0  another epoch has begun
  1  failed: the log is out of reach, or there is none
  2  wrong usage`

/** `tracebook log restored` */
export const restoredCommand = (): Command =>
  new Command('restored')
    .description('Say that a backup of the log was put back: clients upload what it lacks')
    .addHelpText('after', help)
    .action(() => runCommand(async () => (await import('./run/restored.ts')).restored()))
