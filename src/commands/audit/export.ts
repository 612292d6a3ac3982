import { Command } from 'commander'
import { runCommand } from '../../cli/exit.ts'
import { environmentHelp } from '../log/environment-help.ts'
import type { Options } from './run/export.ts'

const help = `
Writes events as JSON lines to stdout, or to a new file: a header, a line for each event in the order of the
log, with id, stream, revision, position, type, and metadata and data as the recorded texts, and a trailer with
the number of events and the SHA-256 of all lines before it (\`head -n -1 FILE | sha256sum\`). What was deleted
before the export is not in it; what is deleted later stays in files.

  tracebook audit export --out log.ndjson
  tracebook audit export --resume log.ndjson     after an interruption, or for what is new since
  tracebook audit export --verify log.ndjson     the file on its own, then against the log

--verify names each event that the log has otherwise, has not, or has besides; what was erased since is no
difference. With --offline it checks the file only, and needs no service.

${environmentHelp}

Exit codes:
  0  exported; with --verify: nothing differs
  1  failed
  2  wrong usage
  3  with --verify: the file is not whole, or was changed, or the log differs from it`

/** `tracebook audit export` */
export const exportCommand = (): Command =>
  new Command('export')
    .description('Write the log, or a part of it, to a file that can be checked')
    .option('--namespace <slug>', 'only a namespace and its traces')
    .option('--trace <id>', 'only one trace: its id, or with --namespace its externalId')
    .option('--out <file>', 'write to a new file instead of stdout')
    .option('--resume <file>', 'go on with a file')
    .option('--verify <file>', 'check a file')
    .option('--offline', 'with --verify: check the file on its own only')
    .addHelpText('after', help)
    .action((options: Options) => runCommand(async () => (await import('./run/export.ts')).exportLog(options)))
