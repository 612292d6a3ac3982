import { Command, Option } from 'commander'
import { UsageError, exitCodes, exitOnUsage, runCommand } from '../cli/exit.ts'
import { escapeControls } from '../cli/escape.ts'
import { newApiClient } from '../sync/api/client.ts'
import { realTiming, withNotice } from '../sync/api/retry.ts'
import { configDir, serverAddress } from '../sync/config.ts'
import { connect } from '../sync/login/connect.ts'
import { jsonReporter, lineReporter } from '../sync/report/reporters.ts'
import { openExportFile } from '../sync/transfer/export-file.ts'
import { type Imported, importTrace } from '../sync/transfer/import-trace.ts'
import { Damaged } from '../sync/transfer/json-pieces.ts'
import { visibilities, type Visibility } from '../sync/upload/upsert-trace.ts'

type Options = {
  readonly server?: string
  readonly namespace?: string
  readonly visibility?: Visibility
  readonly json?: boolean
}

const help = `
Puts back what "tracebook export --format json" wrote: the session under its id, its messages
with their ids, order, times and parts. The whole file is checked first; a damaged one, or
one that is no export, is refused before anything is written.

A session that is there keeps its messages and gets those of the file. A repetition changes
nothing, so an import that was interrupted is simply run again.

A new session gets the visibility of the file, but is never public without
--visibility public. One that is there keeps its own; when it is public, say with
--visibility who may read what is imported.

With --json, stdout holds one JSON document a line:
  {"type":"problem","kind","file","externalId"?,"message"}   a message that was left out
  {"type":"notice","file","externalId","message"}
  {"type":"import","file","externalId","namespace","visibility","messages","new","updated",
   "leftOut","others","exitCode"}   the last one; others: messages that the file has not
  {"type":"error","message","exitCode"}   instead, when nothing was imported, or it broke off

Environment:
  TRACEBOOK_URL         the server, when --server is not given
  TRACEBOOK_CONFIG_DIR  the folder for tokens and state, instead of the platform's own

Exit codes:
  0  all is there
  1  the file is damaged, the server refused, or a message was left out
  2  wrong usage, or not logged in`

const output = { out: process.stdout, err: process.stderr }

const sentence = (file: string, done: Imported): string => {
  const { externalId, namespace, visibility, messages, new: created, updated, leftOut, others } = done
  const notes = [
    `${created} new, ${updated} updated, ${messages - created - updated} as they were`,
    ...(leftOut > 0 ? [`${leftOut} left out`] : []),
    ...(others > 0 ? [`${others} others were there already`] : []),
  ]
  return `${file}: imported ${externalId} into ${namespace}, ${visibility}: ${messages} messages (${notes.join(', ')})`
}

/** @throws Error that names the file */
const explained = async <T>(file: string, work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    if (error instanceof Damaged) throw new Error(`${file} cannot be imported: ${error.message}`, { cause: error })
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new UsageError(`There is no file ${file}.`)
    throw error
  }
}

const importFile = async (file: string, options: Options): Promise<number> => {
  const server = serverAddress(options.server, process.env)
  const opened = await explained(file, openExportFile(file))
  const timing = withNotice(realTiming, (text) => void process.stderr.write(text))
  const connection = await connect(
    { config: configDir(process.env), server, slug: options.namespace, readOnly: false },
    (url, token) => newApiClient(url, token, timing),
  )
  const report = (options.json ? jsonReporter : lineReporter)(output)
  const done = await explained(file, importTrace(opened, { connection, file, visibility: options.visibility, report }))
  const exitCode = done.leftOut > 0 ? exitCodes.incomplete : exitCodes.ok
  const { skippedLines: _skipped, ...shown } = done
  const line = options.json ? JSON.stringify({ type: 'import', file, ...shown, exitCode }) : sentence(file, done)
  process.stdout.write(`${escapeControls(line)}\n`)
  return exitCode
}

/** `tracebook import`: puts an exported session back. Output and exit codes in its help. */
export const importCommand = (): Command =>
  new Command('import')
    .argument('<file>', 'the file')
    .option('--namespace <slug>', 'the namespace to import into (default: the one of your login)')
    .addOption(new Option('--visibility <visibility>', 'who may read the session').choices(visibilities))
    .option('--server <url>', 'the server (default: $TRACEBOOK_URL or http://127.0.0.1:3000)')
    .option('--json', 'JSON on stdout, a document a line')
    .addHelpText('after', help)
    .exitOverride(exitOnUsage)
    .action((file: string, options: Options) => runCommand(() => importFile(file, options), options.json))
