import { Command } from 'commander'
import { UsageError, exitCodes, exitOnUsage, runCommand } from '../../cli/exit.ts'
import { generateSigner, isKeyName } from '../../proof/note.ts'

const help = `
Prints a new private key for AUDIT_KEY, or for the file of AUDIT_KEY_FILE, and on stderr the public one
to be published. The origin names the log for good: a host, or a host and a path, without spaces and plus signs.

  tracebook audit new-key traces.example.org/log > audit.key

Exit codes: 0 printed, 2 wrong usage`

const newKey = async (origin: string): Promise<number> => {
  if (!isKeyName(origin)) throw new UsageError(`"${origin}" cannot name a log: no spaces, no plus signs`)
  const { text, verifier } = generateSigner(origin)
  console.log(text)
  console.error(`public key: ${verifier.text}`)
  return exitCodes.ok
}

/** `tracebook audit new-key` */
export const newKeyCommand = (): Command =>
  new Command('new-key')
    .description('Make a key that signs checkpoints')
    .argument('<origin>', 'the name of the log')
    .addHelpText('after', help)
    .exitOverride(exitOnUsage)
    .action((origin: string) => runCommand(() => newKey(origin)))
