import { readFileSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { replaceFile } from '../base/replace-file.ts'

/** Writes a file that only its owner can read (mode 600, new folders 700), and replaces it atomically. */
export const writePrivateFile = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await replaceFile(path, 0o600, (file) => file.writeFile(text))
}

/** Undefined for a file that is missing or not JSON. */
const orUndefined = (error: unknown): undefined => {
  if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
  throw error
}

/** The JSON value in a file; undefined when the file is missing or not JSON. Throws other failures of reading. */
export const readJson = async (path: string): Promise<unknown> => {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    return orUndefined(error)
  }
}

/** The same, synchronously. */
export const readJsonSync = (path: string): unknown => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    return orUndefined(error)
  }
}
