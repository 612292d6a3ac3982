import { randomUUID } from 'node:crypto'
import { type FileHandle, link, mkdir, open, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncFolder } from '../../base/replace-file.ts'
import type { Agent } from '../agents/agent.ts'
import { saidBy } from '../agents/support/conversation.ts'
import { hashOf } from '../agents/support/hashed-map.ts'
import { objectLines } from '../agents/support/lines.ts'
import type { Written, WrittenSession } from '../agents/support/writer.ts'
import type { Target } from './targets.ts'

/** The file that was written does not read as what was to be written. Nothing is left of it. */
export class ReadsOtherwise extends Error {
  override readonly name = 'ReadsOtherwise'
  constructor(what: string) {
    super(`what was written would not be read as the session: ${what}; nothing was written`)
  }
}

/** How much text is written at once. */
const PIECE = 1 << 18

/** Writes lines, and returns hashes of what they say, in order. */
const writeLines = async (file: FileHandle, written: AsyncIterable<Written>): Promise<readonly number[]> => {
  const hashes: number[] = []
  let text = ''
  for await (const { lines, said } of written) {
    for (const line of lines) text += `${line}\n`
    for (const one of saidBy(said)) hashes.push(hashOf(one))
    if (text.length < PIECE) continue
    await file.writeFile(text)
    text = ''
  }
  await file.writeFile(text)
  return hashes
}

const checkLines = async ({ newLineCheck }: Target, path: string): Promise<void> => {
  const follows = newLineCheck?.()
  if (!follows) return
  const { size } = await stat(path)
  for await (const { json, number } of objectLines(path, size, () => true))
    if (!follows(json)) throw new ReadsOtherwise(`line ${number} does not follow the one before it`)
}

/** Reads a file with the agent's parser, and compares it with what was to be written. */
const compare = async (agent: Agent, path: string, session: WrittenSession, hashes: readonly number[]) => {
  for await (const stored of agent.sessions(path)) {
    let damaged = 0
    const read = await stored.read({ onMalformed: () => void damaged++ })
    if (damaged > 0) throw new ReadsOtherwise('a line is no JSON object')
    if (read.externalId !== session.id || read.trace.projectPath !== session.directory)
      throw new ReadsOtherwise(`it is the session ${read.externalId} of ${read.trace.projectPath ?? 'no folder'}`)
    let next = 0
    for await (const message of read.messages())
      for (const one of saidBy(message))
        if (hashes[next++] !== hashOf(one)) throw new ReadsOtherwise(`message ${message.externalId} differs`)
    if (next !== hashes.length) throw new ReadsOtherwise(`${next} of ${hashes.length} parts are read`)
  }
}

/** Makes a folder, for its owner only. Returns a function that removes what was made, as long as nothing is in it. */
const makeFolder = async (folder: string): Promise<() => Promise<void>> => {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 })
  return async () => {
    if (first === undefined) return
    for (let made = folder; made.length >= first.length; made = dirname(made)) {
      const isGone = await rmdir(made).then(
        () => true,
        () => false,
      )
      if (!isGone) return
    }
  }
}

type Options = {
  readonly target: Target
  readonly session: WrittenSession
  readonly written: AsyncIterable<Written>
  /** Ends the work until the file appears. */
  readonly signal: AbortSignal
  /** Notes what the session was made of, before its file appears, and takes that back if it does not appear. */
  readonly record: { readonly note: () => Promise<void>; readonly forget: () => Promise<void> }
}

/**
 * Writes a session's file: it appears at `path` once it is complete, on the disk, and was read back. A file that is there already stays as it is.
 * When it fails, nothing is left behind. @throws ReadsOtherwise, and what `written` throws
 */
export const writeSessionFile = async (path: string, options: Options): Promise<void> => {
  const { target, session, written, signal, record } = options
  const folder = dirname(path)
  const removeFolders = await makeFolder(folder)
  // No agent, and no `sync`, takes a file with this ending for a session.
  const temporary = join(folder, `.${randomUUID()}.tmp`)
  try {
    const file = await open(temporary, 'wx', 0o600)
    let hashes: readonly number[]
    try {
      await file.chmod(0o600)
      hashes = await writeLines(file, written)
      await file.sync()
    } finally {
      await file.close()
    }
    await checkLines(target, temporary)
    await compare(target.agent, temporary, session, hashes)
    signal.throwIfAborted()
    await record.note()
    await link(temporary, path).catch(async (error: unknown) => {
      await record.forget()
      throw error
    })
    await rm(temporary)
    await syncFolder(folder)
  } catch (error) {
    await rm(temporary, { force: true })
    await removeFolders()
    throw error
  }
}
