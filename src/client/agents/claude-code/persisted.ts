import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { trimEndMatching } from '../../../base/texts.ts'

/** How much of a file is taken at most. */
const MAX_BYTES = 1 << 20

/** Whether a name is that of a file or folder directly in the folder it is joined to. */
const isPlain = (name: string): boolean => /^[\w-][\w.-]*$/.test(name)

/** The folder with the large outputs of a session. Those of a sub-agent are in the folder of the session that called it. */
const folderOf = (path: string, sessionId: unknown): string | undefined => {
  const steps = path.split(sep)
  const nested = steps.lastIndexOf('subagents')
  if (nested > 0) return join(steps.slice(0, nested).join(sep) || sep, 'tool-results')
  const name = basename(path, '.jsonl')
  const session = name.startsWith('agent-') ? String(sessionId) : name
  return isPlain(session) ? join(dirname(path), session, 'tool-results') : undefined
}

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** The text of a regular file, cut where it is too long; undefined for anything else. Follows no link, and does not wait for a pipe. */
const textOfFile = (path: string): string | undefined => {
  let file: number | undefined
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
    const stats = fstatSync(file)
    if (!stats.isFile()) return undefined
    const buffer = Buffer.alloc(Math.min(stats.size, MAX_BYTES))
    const text = buffer.toString('utf8', 0, readSync(file, buffer, 0, buffer.length, 0))
    const more = stats.size - buffer.length
    return more > 0 ? `${trimEndMatching(text, /\uFFFD/)}\n… (${more.toLocaleString('en')} bytes more)` : text
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

const persisted = /^\s*<persisted-output>[\s\S]{0,200}?Full output saved to: ([^\n]+)/

/**
 * The whole output of a tool, where the line holds only its beginning and the name of a file with the rest (README, rule 5).
 * Otherwise, and where the file is not in the session's own folder for such files, the output as it is in the line.
 */
export const wholeOutput = (output: string, path: string, sessionId: unknown): string => {
  const saved = persisted.exec(output)?.[1]
  const [name = '', folder] = saved?.trim().split(/[\\/]/).reverse() ?? []
  if (folder !== 'tool-results' || !isPlain(name)) return output
  const own = folderOf(path, sessionId)
  return (own !== undefined && isFolder(own) ? textOfFile(join(own, name)) : undefined) ?? output
}
