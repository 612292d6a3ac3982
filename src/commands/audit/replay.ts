import { Command } from 'commander'
import { runCommand } from '../../cli/exit.ts'
import { environmentHelp } from '../log/environment-help.ts'
import type { Options } from './run/replay.ts'

const help = `
Builds the read models from the log anew, beside those that serve, which proves that the log can be replayed.
With --compare each row is compared with those that serve, when both have applied the same events, and each
difference is named: "missing" and "extra" say what is wrong with a row that serves. Rows of streams in
quarantine are left out, and the streams named. The new read models are dropped, unless --swap puts them in the
place of those that serve, which also mends what differs. Nothing stops meanwhile.

A line of --json: type "difference" with group, table, kind ("missing", "extra", "different", "table missing",
"table extra", "columns differ"), key and columns; type "quarantined" with group, stream and reason; type
"replayed" with group and position, and with --compare how many differences.

Examples:
  tracebook audit replay --compare
  tracebook audit replay --compare --json

${environmentHelp}

Exit codes:
  0  replayed, and with --compare equal
  1  failed
  2  wrong usage
  3  there are differences, or streams in quarantine, which were not compared`

/** `tracebook audit replay` */
export const replayCommand = (): Command =>
  new Command('replay')
    .description('Build the read models anew beside those that serve, and compare them')
    .option('--group <name>', 'which read models (default: all, one after the other)')
    .option('--compare', 'compare them row by row with those that serve')
    .option('--swap', 'put the new ones in the place of those that serve')
    .option('--json', 'one JSON document a line')
    .addHelpText('after', help)
    .action((options: Options) =>
      runCommand(async () => (await import('./run/replay.ts')).replay(options), options.json),
    )
