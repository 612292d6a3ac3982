import { Command } from 'commander'
import { runCommand } from '../cli/exit.ts'

const help = `
Everything that was acknowledged before it begins is in the file: the log, the audit tree with the
history of its keys, pictures of namespaces, and when sessions were last used. The service goes on
meanwhile. The file is there only when all of it is; one of that name is replaced then. Only its owner
can read it: it holds what people have uploaded, so keep it as safe as the service.

Not in it:
  the key that signs checkpoints   keep a copy of DATA_DIR/audit.key, or of AUDIT_KEY, in another place
  settings                         the environment of the service
  what is made again               read models, jobs, sign-ins under way, the catalogue of models
  what clients keep                logins and notes of uploads are on their machines
  a log in EventStoreDB            that is refused: such a log has its server's backups

Examples:
  tracebook backup /backups/tracebook.backup
  tracebook backup /dev/stdout | zstd > tracebook.backup.zst
  DATABASE_URL=postgres://me@db/tracebook tracebook backup tracebook.backup

Environment:
  DATABASE_URL     the database of the service
  DATA_DIR         without DATABASE_URL: the folder of a service, whether it runs or not (default: data)
  DISK_RESERVE_MB  what a backup leaves free where FILE is (default: 256)

Exit codes:
  0  the backup is written, and on the disk
  1  failed: nothing is left of it, and a file of that name is as it was
  2  wrong usage, or the log is in EventStoreDB`

/** `tracebook backup` */
export const backupCommand = (): Command =>
  new Command('backup')
    .argument('<file>', 'what to write')
    .addHelpText('after', help)
    .action((file: string) => runCommand(async () => (await import('./run/backup.ts')).backup(file)))
