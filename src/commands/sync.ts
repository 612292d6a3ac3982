import { Command, Option } from 'commander'
import { runCommand } from '../cli/exit.ts'
import { visibilities } from '../sync/upload/upsert-trace.ts'
import { syncHelp } from './sync-help.ts'
import type { Options } from './run/sync.ts'

/** `tracebook sync`: uploads the sessions of coding agents on this machine. Output and exit codes in its help. */
export const syncCommand = (): Command =>
  new Command('sync')
    .argument('[path...]', 'session files, or folders to search')
    .option('--server <url>', 'the server (default: $TRACEBOOK_URL, else that of the last login)')
    .option('--namespace <slug>', 'the namespace to upload to (default: the one of your login)')
    .addOption(new Option('--visibility <visibility>', 'who may read the traces').choices(visibilities))
    .option('--dry-run', 'say what would be uploaded, write nothing')
    .option('--force', 'upload again what was uploaded before')
    .option('--strict', 'end with 1 where a line could not be read')
    .option('--project <folder>', 'only sessions whose agent worked in this folder, or below')
    .option('--watch', 'go on: upload what is written within two seconds, until Ctrl-C')
    .addOption(new Option('--log-file <file>', 'with --watch: say it there instead, with the time').hideHelp())
    .option('--no-redact', 'upload secrets too (asks first; only on a terminal)')
    .option('--yes', 'agree to what is asked before sessions go to another namespace, or become public')
    .option('--json', 'JSON on stdout, a document a line')
    .addHelpText('after', syncHelp)
    .action((paths: readonly string[], options: Options) =>
      runCommand(async () => (await import('./run/sync.ts')).sync(paths, options), options.json),
    )
