import { Command } from 'commander'
import { runCommand } from '../cli/exit.ts'

const help = `
All of the file is checked first: nothing is written of one that was changed or cut off. Nothing that
is there is overwritten: the folder, or the database, must hold no service's data. Where it is broken
off, run it again; until it has come to its end, \`tracebook serve\` refuses that folder or database.

Put audit.key back into DATA_DIR before the first start, or the service makes another key. Then start
it: it builds the read models from the log. What was written after the backup is missing; clients
notice that by themselves, and upload what they still have.

Examples:
  tracebook restore /backups/tracebook.backup
  DATABASE_URL=postgres://me@db/empty tracebook restore tracebook.backup

Environment:
  DATABASE_URL     the empty database
  DATA_DIR         without DATABASE_URL: the folder, which is made where it is missing (default: data)
  DISK_RESERVE_MB  what it leaves free in DATA_DIR (default: 256)

Exit codes:
  0  restored
  1  failed: something is there already, the file is no whole backup, or it was broken off
  2  wrong usage, or there is no such file`

/** `tracebook restore` */
export const restoreCommand = (): Command =>
  new Command('restore')
    .argument('<file>', 'as `tracebook backup` writes it')
    .addHelpText('after', help)
    .action((file: string) => runCommand(async () => (await import('./run/restore.ts')).restore(file)))
