import { extname } from 'node:path'
import { io } from '../cli/io.ts'
import { commandName } from '../cli/command-name.ts'
import { escapeControlsInLines } from '../base/escape.ts'
import { UsageError, exitCodes } from '../cli/exit.ts'
import { printDocument, writeOut } from '../cli/output.ts'
import { hasStatus } from '../client/api/errors.ts'
import { download } from '../client/transfer/download.ts'
import { writeWhole } from '../client/transfer/output-file.ts'
import { type Access, noticedTiming } from './support/access.ts'
import { explainOutput } from '../cli/named-file.ts'
import { type Format, type Options, pathOf } from './support/export-path.ts'
import { findTrace } from './support/find-trace.ts'

/** The format of a file by the end of its name. */
const formatsByEnding: Readonly<Record<string, Format>> = { md: 'md', html: 'html', htm: 'html', json: 'json' }

/** The format of --format, else that of the file's name, else Markdown. */
const formatOf = ({ format, output = '' }: Options): Format =>
  format ?? formatsByEnding[extname(output).slice(1).toLowerCase()] ?? 'md'

/** Prints the file. On a terminal control characters are escaped; a pipe gets every byte. */
const print = async (pieces: AsyncIterable<Uint8Array>): Promise<void> => {
  const { isTTY } = io().stdout
  const decoder = new TextDecoder()
  let last: number | undefined
  for await (const piece of pieces) {
    await writeOut(isTTY ? escapeControlsInLines(decoder.decode(piece, { stream: true })) : piece)
    last = piece.at(-1) ?? last
  }
  if (isTTY && last !== 10) await writeOut('\n')
}

export const exportTrace = async (given: Access, options: Options, name: string | undefined): Promise<number> => {
  const { output, all, json = false } = options
  if (all !== undefined) {
    if ([name, output, options.revision, options.at].some((one) => one !== undefined))
      throw new UsageError('--all cannot be combined with an id, --output, --revision or --at.')
    return (await import('./export-all.ts')).exportAll(given, { ...options, folder: all })
  }
  if (name === undefined) throw new UsageError('Give the id of a session, or --all FOLDER for all sessions.')
  if (json && output === undefined) throw new UsageError('--json reports the file that was written: add --output FILE.')
  // The reader of a pipe has exited.
  io().stdout.once('error', () => process.exit(exitCodes.failed))
  const { access, trace } = await findTrace(given, options, name)
  const { externalId, namespace } = trace
  const { server } = access
  const path = pathOf(externalId, namespace.slug, { ...options, format: formatOf(options) })
  const pieces = download({ server, path, token: await access.token(), timing: noticedTiming })
  try {
    if (output === undefined) await print(pieces)
    else {
      const bytes = await writeWhole(output, pieces).catch(explainOutput(output))
      if (json) await printDocument({ type: 'export', externalId, format: formatOf(options), file: output, bytes })
    }
  } catch (error) {
    if (hasStatus(error, 400)) throw new UsageError(error.message, { cause: error })
    if (hasStatus(error, 404))
      throw new UsageError(
        `The session did not exist at that revision or time. To list its revisions, run: ${commandName} audit log ${externalId}`,
        { cause: error },
      )
    if (!hasStatus(error, 401)) throw error
    throw new UsageError(`The session is not public. To log in, run: ${commandName} login --server ${server}`)
  }
  return exitCodes.ok
}
