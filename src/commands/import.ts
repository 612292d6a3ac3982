import { resolve } from 'node:path'
import { exitCodes } from '../cli/exit.ts'
import { io } from '../cli/io.ts'
import { explainMissingFile } from '../cli/named-file.ts'
import { printDocument, printLines } from '../cli/output.ts'
import { stateDir } from '../client/config.ts'
import { requireChosen } from '../client/login/connect.ts'
import { jsonReporter, lineReporter, ownOutput } from '../client/report/reporters.ts'
import { openDuties } from '../client/state/duties.ts'
import { newUploader } from '../client/state/uploader.ts'
import { openExportFile } from '../client/transfer/export-file.ts'
import { type Imported, importTrace } from '../client/transfer/import-trace.ts'
import { Damaged } from '../client/transfer/json-pieces.ts'
import { doDuties } from '../client/upload/owed-erasures.ts'
import { type Access, patientTiming, sayWaiting } from './support/access.ts'
import type { ClientOptions } from './support/access.ts'
import type { Visibility } from '../client/upload/upsert-trace.ts'

export type Options = ClientOptions & { readonly visibility?: Visibility }

const sentence = (file: string, done: Imported): string => {
  const { externalId, namespace, visibility, messages, new: created, updated, leftOut, others } = done
  const notes = [
    `${created} new, ${updated} updated, ${messages - created - updated} unchanged`,
    ...(leftOut > 0 ? [`${leftOut} left out`] : []),
    ...(others > 0 ? [`${others} existing messages are not in the file`] : []),
  ]
  return `${file}: imported ${externalId} into ${namespace}, ${visibility}: ${messages} messages (${notes.join(', ')})`
}

/** Names the file in errors. */
const explained = async <T>(file: string, work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    if (error instanceof Damaged) throw new Error(`${file} cannot be imported: ${error.message}`, { cause: error })
    return explainMissingFile(file)(error)
  }
}

export const importFile = async (
  { config, server, connect }: Access,
  options: Options,
  file: string,
): Promise<number> => {
  const opened = await explained(file, openExportFile(file))
  const connection = await connect({ readOnly: false, timing: patientTiming })
  requireChosen(connection)
  const report = options.json ? jsonReporter(ownOutput()) : lineReporter(ownOutput(), false)
  const { visibility } = options
  const duties = openDuties(config, server)
  const asUploader = newUploader({ stateFolder: stateDir(io().env), config, server }, { onWait: sayWaiting })
  const { done, failed } = await asUploader(async () => {
    const importing = importTrace(opened, { connection, file: resolve(file), visibility, report, duties })
    const done = await explained(file, importing)
    const left = done.exposed > 0 ? { failed: 0 } : await doDuties({ connection, duties }, report)
    return { done, failed: left.failed }
  })
  const exitCode = done.leftOut + done.exposed + failed > 0 ? exitCodes.failed : exitCodes.ok
  const { skippedLines: _lines, skippedBytes: _bytes, unknownParts: _parts, exposed: _exposed, ...shown } = done
  if (options.json) await printDocument({ type: 'import', file, ...shown, exitCode })
  else await printLines([sentence(file, done)])
  return exitCode
}
