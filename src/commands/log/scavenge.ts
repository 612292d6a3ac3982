import { io } from '../../cli/io.ts'
import { Command } from 'commander'
import { runCommand } from '../../cli/exit.ts'

const help = `
Events that were erased leave the disk of EventStoreDB with a scavenge; the log in
Postgres needs none. It runs on in the server. In a cluster, start one on each node,
with the address of that node.

Examples:
  tracebook log scavenge

Environment:
  EVENTSTORE_URL  the server, when --url is not given

Exit codes:
  0  started
  1  the server refused, or did not answer
  2  wrong usage`

/** `tracebook log scavenge` */
export const scavengeCommand = (): Command =>
  new Command('scavenge')
    .description('Free the disk of what has been erased from a log in EventStoreDB')
    .option('--url <url>', 'the server (default: $EVENTSTORE_URL)')
    .addHelpText('after', help)
    .action(({ url }: { readonly url?: string }) =>
      runCommand(async () => (await import('./run/scavenge.ts')).scavenge(url ?? io().env.EVENTSTORE_URL)),
    )
