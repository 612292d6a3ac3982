import { Command } from 'commander'
import { runCommand } from '../../cli/exit.ts'

const help = `
Prints a new private key for AUDIT_KEY, or for the file of AUDIT_KEY_FILE, and on stderr the public one
to be published. The origin names the log for good: a host, or a host and a path, without spaces and plus signs.

  tracebook audit new-key traces.example.org/log > audit.key

Exit codes:
  0  printed
  2  wrong usage`

/** `tracebook audit new-key` */
export const newKeyCommand = (): Command =>
  new Command('new-key')
    .description('Make a key that signs checkpoints')
    .argument('<origin>', 'the name of the log')
    .addHelpText('after', help)
    .action((origin: string) => runCommand(async () => (await import('./run/new-key.ts')).newKey(origin)))
