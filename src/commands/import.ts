import { Command, Option } from 'commander'
import { UsageError, exitCodes } from '../cli/exit.ts'
import { printDocument, printLines } from '../cli/output.ts'
import { jsonReporter, lineReporter } from '../sync/report/reporters.ts'
import { openExportFile } from '../sync/transfer/export-file.ts'
import { type Imported, importTrace } from '../sync/transfer/import-trace.ts'
import { Damaged } from '../sync/transfer/json-pieces.ts'
import { visibilities, type Visibility } from '../sync/upload/upsert-trace.ts'
import { type Access, patientTiming } from './support/access.ts'
import { type ClientOptions, clientCommand } from './support/client-command.ts'
import type { Help } from './support/help.ts'

type Options = ClientOptions & { readonly visibility?: Visibility }

const help: Help = {
  about: `
Puts back what "tracebook export --format json" wrote: the session under its id, its messages
with their ids, order, times and parts. The whole file is checked first; a damaged one, or
one that is no export, is refused before anything is written.

A session that is there keeps its messages and gets those of the file. A repetition changes
nothing, so an import that was interrupted is simply run again.

A new session gets the visibility of the file, but is never public without
--visibility public. One that is there keeps its own; when it is public, say with
--visibility who may read what is imported.`,
  examples: [
    ['tracebook import session.json', 'into the namespace of your login'],
    ['tracebook import session.json --namespace team --visibility direct'],
    ['tracebook import session.json --json', 'tell a script what was written'],
  ],
  documents: [
    ['{"type":"problem","kind","file","externalId"?,"message"}', 'a message that was left out'],
    ['{"type":"notice","file","externalId","message"}', 'for example: stored under another id'],
    [
      '{"type":"import","file","externalId","namespace","visibility","messages","new","updated","leftOut","others","exitCode"}',
      'the last one; others: messages that the file has not',
    ],
  ],
  exitCodes: {
    0: 'all is there',
    1: 'the file is damaged, the server refused, or a message was left out',
    2: 'wrong usage, or not logged in',
  },
}

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

const importFile = async ({ connect }: Access, options: Options, file: string): Promise<number> => {
  const opened = await explained(file, openExportFile(file))
  const connection = await connect({ readOnly: false, timing: patientTiming })
  const report = options.json ? jsonReporter(output) : lineReporter(output, false)
  const done = await explained(file, importTrace(opened, { connection, file, visibility: options.visibility, report }))
  const exitCode = done.leftOut > 0 ? exitCodes.incomplete : exitCodes.ok
  const { skippedLines: _skipped, ...shown } = done
  if (options.json) await printDocument({ type: 'import', file, ...shown, exitCode })
  else await printLines([sentence(file, done)])
  return exitCode
}

/** `tracebook import`: puts an exported session back. Output and exit codes in its help. */
export const importCommand = (): Command =>
  clientCommand<Options, [string]>(
    new Command('import')
      .argument('<file>', 'the file')
      .addOption(new Option('--visibility <visibility>', 'who may read the session').choices(visibilities)),
    { help, namespace: 'the namespace to import into (default: the one of your login)', run: importFile },
  )
