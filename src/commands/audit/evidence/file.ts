import { constants } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, access, link, open, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { escapeControlsInLines } from '../../../base/escape.ts'
import { syncFolder } from '../../../base/replace-file.ts'
import { UsageError } from '../../../cli/exit.ts'
import { io } from '../../../cli/io.ts'
import { explainOutput } from '../../../cli/named-file.ts'
import { writeOut } from '../../../cli/output.ts'
import type { EvidenceFrame } from '../../../server/proof/evidence/check.ts'

const exists = (path: string): UsageError =>
  new UsageError(`${path} is there already, and is not overwritten: give another name.`)

/** @throws UsageError for a file that exists, or has no name */
export const assertNew = async (path: string): Promise<void> => {
  if (path === '') throw new UsageError('--output is empty: give the name of a file.')
  const isThere = await access(path).then(
    () => true,
    () => false,
  )
  if (isThere) throw exists(path)
}

/** Writes the file with these events, which are lines of JSON. */
const writeEvidence = async (
  file: FileHandle,
  { format, madeAt, madeBy, log, ...lists }: EvidenceFrame,
  events: AsyncIterable<string>,
): Promise<void> => {
  let bytes = 0
  const write = async (text: string) => {
    bytes += Buffer.byteLength(text)
    if (bytes > constants.MAX_STRING_LENGTH)
      throw new Error('The file would be too large to be checked: ask for fewer commits at once, or use --hashes.')
    await file.appendFile(text)
  }
  await write(`${JSON.stringify({ format, madeAt, madeBy, log }).slice(0, -1)},"events":[`)
  let separator = '\n'
  for await (const event of events) {
    await write(`${separator}${event}`)
    separator = ',\n'
  }
  await write(`],\n${JSON.stringify(lists).slice(1)}\n`)
}

const writeNew = async (path: string, frame: EvidenceFrame, events: AsyncIterable<string>): Promise<void> => {
  const file = await open(path, 'wx', 0o600)
  try {
    await writeEvidence(file, frame, events)
    await file.sync()
  } finally {
    await file.close()
  }
}

const print = async (path: string): Promise<void> => {
  const { isTTY } = io().stdout
  const decoder = new TextDecoder()
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>)
    await writeOut(isTTY ? escapeControlsInLines(decoder.decode(piece, { stream: true })) : piece)
}

type Target = {
  /** Undefined: standard output. */
  readonly output: string | undefined
  /** A folder for temporary files. */
  readonly folder: string
  /** Called when everything is written, and before it is seen. What it throws leaves nothing behind. */
  readonly check: () => void
}

/** Writes a new file at once, or prints it, after it was written whole and checked. @throws UsageError for a file that exists, and what `check` throws */
export const giveEvidence = async (
  { output, folder, check }: Target,
  frame: EvidenceFrame,
  events: AsyncIterable<string>,
): Promise<void> => {
  if (output === undefined) {
    const path = join(folder, 'file')
    await writeNew(path, frame, events).catch(explainOutput(path))
    check()
    return print(path)
  }
  const temporary = join(dirname(output), `.${basename(output)}.${randomUUID()}.tmp`)
  try {
    await writeNew(temporary, frame, events).catch(explainOutput(output))
    check()
    await link(temporary, output).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'EEXIST' ? exists(output) : error
    })
  } finally {
    await rm(temporary, { force: true })
  }
  await syncFolder(dirname(output))
}
