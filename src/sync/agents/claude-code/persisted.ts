import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { trimEndMatching } from '../../../base/texts.ts'

/** More of an output is not taken. */
const MAX_BYTES = 1 << 20

/** A name that leads out of no folder. */
const isPlain = (name: string): boolean => /^[\w-][\w.-]*$/.test(name)

/** The folder of a session in which its large outputs are; a sub-agent's are in that of the session that has called it. */
const folderOf = (path: string, sessionId: unknown): string | undefined => {
  const steps = path.split(sep)
  const nested = steps.lastIndexOf('subagents')
  if (nested > 0) return join(steps.slice(0, nested).join(sep) || sep, 'tool-results')
  const name = basename(path, '.jsonl')
  const session = name.startsWith('agent-') ? String(sessionId) : name
  return isPlain(session) ? join(dirname(path), session, 'tool-results') : undefined
}

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** The text of a regular file, cut where it is too long; undefined where there is none. Follows no link, and waits for no pipe. */
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
 * The whole output of a tool of which the line holds the beginning and the name of a file (README, rule 5); the output itself where
 * it is all, or the file is not in the session's own folder for that.
 */
export const wholeOutput = (output: string, path: string, sessionId: unknown): string => {
  const saved = persisted.exec(output)?.[1]
  const [name = '', folder] = saved?.trim().split(/[\\/]/).reverse() ?? []
  if (folder !== 'tool-results' || !isPlain(name)) return output
  const own = folderOf(path, sessionId)
  return (own !== undefined && isFolder(own) ? textOfFile(join(own, name)) : undefined) ?? output
}
