import { Command } from 'commander'
import { runCommand } from '../../cli/exit.ts'
import { idHelp } from '../support/id-help.ts'

const help = `
Prints a bundle: the event, the way from it to a signed checkpoint of the log, and the key of the log. It can
be checked without the service: tracebook audit verify --offline BUNDLE

  tracebook audit proof 0192f0c1 3 > bundle.json

Needs a login as a member of the trace's namespace. An event that is seconds old is waited for.

${idHelp}

Environment:
  TRACEBOOK_URL         the server, when --server is not given
  TRACEBOOK_CONFIG_DIR  the folder of the login, instead of the platform's own

Exit codes:
  0  printed
  1  the server refused, or did not answer
  2  wrong usage, not logged in, or there is no such event`

/** `tracebook audit proof` */
export const proofCommand = (): Command =>
  new Command('proof')
    .description('Print a proof that an event of a trace is in the log')
    .argument('<id>', 'the trace: its id, the beginning of one, or a link')
    .argument('<revision>', 'the revision of the event in the trace')
    .option('--server <url>', 'the server (default: $TRACEBOOK_URL, else that of the last login)')
    .addHelpText('after', help)
    .action((trace: string, revision: string, options: { readonly server?: string }) =>
      runCommand(async () => (await import('./run/proof.ts')).proof(trace, revision, options)),
    )
