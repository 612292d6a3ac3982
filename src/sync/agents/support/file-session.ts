import { statSync } from 'node:fs'
import type { Agent, ReadOptions, Session } from '../agent.ts'

/** Reads the first `size` bytes of a session file: more may be written meanwhile. */
export type ReadSessionFile = (path: string, options: ReadOptions & { readonly size: number }) => Promise<Session>

/**
 * The `sessions` of an agent that stores each session in a file of its own. The stamp is the file's inode, size and time of
 * change; that is in nanoseconds, so that two writes within one millisecond differ. There are thousands of files, and `stat` of
 * another thread would cost ten times as much.
 */
export const sessionPerFile = (read: ReadSessionFile): Agent['sessions'] =>
  async function* (path) {
    const { ino, size, mtimeNs } = statSync(path, { bigint: true })
    yield {
      source: path,
      stamp: `${ino} ${size} ${mtimeNs}`,
      writtenAt: Number(mtimeNs / 1_000_000n),
      read: (options) => read(path, { ...options, size: Number(size) }),
    }
  }
