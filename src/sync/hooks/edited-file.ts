import { isUtf8 } from 'node:buffer'
import { mkdir, readFile, rm, rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { UsageError } from '../../cli/exit.ts'
import { readJson, writePrivateFile } from '../private-files.ts'
import type { Inserted, Piece as PutIn } from './json-pieces.ts'
import { rewriteFile, textOf } from './rewrite-file.ts'

/** What was put into the file, so that it can be taken out byte for byte. */
const Piece = z.object({ container: z.array(z.string()), text: z.string() })
const Record = z.object({ pieces: z.array(Piece).readonly(), madeFolder: z.boolean(), madeFile: z.boolean() })
type Record = z.infer<typeof Record>

/** How something of ours stands in a kind of file. */
export type Edits = {
  /** The text of a file that has nothing else. */
  readonly empty: string
  readonly isIn: (text: string) => boolean
  /** Takes it out: with the pieces that were put in byte for byte. */
  readonly remove: (text: string, pieces: readonly PutIn[]) => string
}

/** A settings file of another program, into which something is put that can be taken out again. */
export type EditedFile = {
  readonly isInstalled: () => Promise<boolean>
  /** Puts it in with `add`, in the place of an earlier one. False if `isThere` says that the text has just that. Throws UsageError. */
  readonly install: (add: (text: string) => Inserted, isThere: (text: string) => boolean) => Promise<boolean>
  /** Takes out exactly what was put in. False when there was nothing. Throws UsageError. */
  readonly uninstall: () => Promise<boolean>
}

/** The text of a file that is to be rewritten. Throws UsageError if it is none in UTF-8, which would not come back as it was. */
const rewritable = async (file: string): Promise<string | undefined> => {
  const text = await textOf(file)
  if (text?.includes('\u{fffd}') && !isUtf8(await readFile(file)))
    throw new UsageError('expected text in UTF-8, got something else: correct the file first')
  return text
}

/** `record`: the file in which Tracebook remembers what it has put in. */
export const editedFile = (file: string, record: string, { empty, isIn, remove }: Edits): EditedFile => {
  const folder = dirname(file)
  const explained = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw error instanceof UsageError ? new UsageError(`${file}: ${error.message}`) : error
    })
  const readRecord = async (): Promise<Record | undefined> => Record.safeParse(await readJson(record)).data
  const isInstalled = async () => isIn((await textOf(file)) ?? '')

  const uninstall = async () => {
    const text = await rewritable(file)
    const found = await readRecord()
    if (text !== undefined && isIn(text)) {
      const rest = remove(text, found?.pieces ?? [])
      if (found?.madeFile && rest === empty) await rm(file)
      else await rewriteFile(file, rest)
      if (found?.madeFolder) await rmdir(folder).catch(() => {})
    }
    await rm(record, { force: true })
    await rmdir(dirname(record)).catch(() => {})
  }
  const install = async (add: (text: string) => Inserted, isThere: (text: string) => boolean) => {
    if (isThere((await textOf(file)) ?? '')) return false
    await uninstall()
    const [madeFolder, text] = [await mkdir(folder, { recursive: true }), await rewritable(file)]
    const made = { madeFolder: madeFolder !== undefined, madeFile: text === undefined }
    const added = add(text ?? empty)
    await writePrivateFile(record, JSON.stringify({ pieces: added.pieces, ...made }))
    await rewriteFile(file, added.text)
    return true
  }
  return {
    isInstalled,
    install: (add, isThere) => explained(install(add, isThere)),
    uninstall: async () => {
      const was = await isInstalled()
      await explained(uninstall())
      return was
    },
  }
}
