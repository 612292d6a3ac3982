import { isUtf8 } from 'node:buffer'
import { mkdir, readFile, rm, rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { UsageError } from '../../cli/exit.ts'
import { readJson, writePrivateFile } from '../private-files.ts'
import type { Inserted, Piece as PutIn } from './json-pieces.ts'
import { rewriteFile, textOf } from './rewrite-file.ts'

/** What was inserted into the file, so that it can be removed byte for byte. */
const Piece = z.object({ container: z.array(z.string()), text: z.string() })
const Record = z.object({ pieces: z.array(Piece).readonly(), madeFolder: z.boolean(), madeFile: z.boolean() })
type Record = z.infer<typeof Record>

/** How an entry of Tracebook is found in, and removed from, a kind of settings file. */
export type Edits = {
  /** The text of a file that had only the entry, without it. */
  readonly empty: string
  readonly isIn: (text: string) => boolean
  /** Removes the entry. With the pieces that were inserted, the text becomes what it was before, byte for byte. */
  readonly remove: (text: string, pieces: readonly PutIn[]) => string
}

/** A settings file of another program, into which an entry is inserted that can be removed again. */
export type EditedFile = {
  readonly isInstalled: () => Promise<boolean>
  /** Inserts the entry with `add`, in place of an earlier one. Returns false if the text has exactly this entry (`isThere`). Throws UsageError. */
  readonly install: (add: (text: string) => Inserted, isThere: (text: string) => boolean) => Promise<boolean>
  /** Removes exactly what was inserted. Returns false if nothing was. Throws UsageError. */
  readonly uninstall: () => Promise<boolean>
}

/** The text of a file that is to be rewritten. Throws UsageError if it is not UTF-8, because it could not be written back unchanged. */
const rewritable = async (file: string): Promise<string | undefined> => {
  const text = await textOf(file)
  if (text?.includes('\u{fffd}') && !isUtf8(await readFile(file)))
    throw new UsageError('expected text in UTF-8, got something else: correct the file first')
  return text
}

/** `record`: the file in which Tracebook remembers what it has inserted. */
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
