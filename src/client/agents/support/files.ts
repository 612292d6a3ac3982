import { type BigIntStats, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent, EnvironmentVariables, ReadOptions, Session, SourceFile, StoredSession } from '../agent.ts'
import { type Json, parseObject } from './json.ts'
import type { Part, Parts } from './sequence.ts'

/** The folders in which apps keep their data on macOS, Linux and Windows. Not all of them exist. */
export const appFolders = ({ XDG_CONFIG_HOME, APPDATA }: EnvironmentVariables, home: string): readonly string[] => [
  join(home, 'Library', 'Application Support'),
  XDG_CONFIG_HOME || join(home, '.config'),
  APPDATA || join(home, 'AppData', 'Roaming'),
]

/** The real path of a file or folder; undefined if it cannot be found. */
export const realPath = (path: string): string | undefined => {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

let last: { readonly beginning: string; readonly objects: readonly Json[] } | undefined

/**
 * The JSON objects in the lines at the beginning of a file. The last line may be cut off, and then gives none. The result for the
 * last file is kept, because each agent asks for it in turn.
 */
export const objectsOf = (beginning: string): readonly Json[] => {
  if (last?.beginning === beginning) return last.objects
  const lines = beginning.split('\n').map((line) => parseObject(line.trim()))
  last = { beginning, objects: lines.filter((json) => json !== undefined) }
  return last.objects
}

/** Reads a session from the first bytes of its files, because its agent may append more at the same time. */
export type ReadSessionFiles = (parts: Parts, options: ReadOptions) => Promise<Session>

/** What is stored about a session in other files than its own, such as its title: a text that differs once that has changed. */
type Elsewhere = (path: string) => string | undefined | Promise<string | undefined>

/** Where a session is that has one file. */
export const inOneFile = (path: string, stamp: string): Pick<StoredSession, 'source' | 'files'> => ({
  source: path,
  files: [{ path, stamp }],
})

/** A text that differs once a session may have changed. */
export const stampOf = ({ files }: Pick<StoredSession, 'files'>): string => files.map(({ stamp }) => stamp).join('\n')

const isGone = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'

/** What `stat` says of a file; undefined of another file of the session that is gone. */
const statsOf = (path: string, mayBeGone: boolean): BigIntStats | undefined => {
  try {
    return statSync(path, { bigint: true })
  } catch (error) {
    if (mayBeGone && isGone(error)) return undefined
    throw error
  }
}

/**
 * The `sessions` of an agent that stores each session in files of its own, mostly in one. The stamp is the file's inode, size and time of
 * change in nanoseconds, so that two writes within one millisecond differ, and what is stored elsewhere. `stat` is
 * synchronous because there are thousands of files, and the asynchronous one takes ten times as long.
 */
export const sessionPerFile = (read: ReadSessionFiles, elsewhere?: Elsewhere): Agent['sessions'] =>
  async function* (path, others = []) {
    const files: SourceFile[] = []
    const parts: Part[] = []
    let writtenAt = 0
    for (const each of [path, ...others].sort()) {
      const other = elsewhere && (await elsewhere(each))
      const stats = statsOf(each, each !== path)
      if (!stats) continue
      const { ino, size, mtimeNs } = stats
      files.push({ path: each, stamp: `${ino} ${size} ${mtimeNs}${other === undefined ? '' : ` ${other}`}` })
      parts.push({ path: each, size: Number(size) })
      writtenAt = Math.max(writtenAt, Number(mtimeNs / 1_000_000n))
    }
    yield { source: files[0]!.path, files, writtenAt, read: (options) => read(parts as unknown as Parts, options) }
  }
