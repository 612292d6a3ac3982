import { readFile, readlink, realpath, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { replaceFile } from '../../base/replace-file.ts'

/** The text of a file; undefined when there is none. */
export const textOf = async (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

/** The file that a path leads to, which need not exist: through a link, so that its target is written and not the link. */
const targetOf = (path: string): Promise<string> =>
  realpath(path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    const link = await readlink(path).catch(() => undefined)
    return link === undefined ? path : targetOf(resolve(dirname(path), link))
  })

/** Replaces the text of a user's file atomically; follows a link, and keeps the mode of the file. */
export const rewriteFile = async (path: string, text: string, newMode = 0o644): Promise<void> => {
  const target = await targetOf(path)
  const mode = (await stat(target).catch(() => undefined))?.mode ?? newMode
  await replaceFile(target, mode & 0o7777, (file) => file.writeFile(text))
}
