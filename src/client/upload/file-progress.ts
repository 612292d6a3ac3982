import { watchReads } from '../agents/support/chunks.ts'
import type { Reporter } from '../report/events.ts'

/** How far the sessions of one file are worked through: reported in bytes, which add up to the file's size at the end. */
export type FileProgress = {
  /** Runs the work on one session of the file. */
  readonly during: <T>(work: () => Promise<T>) => Promise<T>
  /** Reports how many bytes of messages were sent. */
  readonly sent: (bytes: number) => void
  /** Called for each session that is to be worked on; `closed` is called once for each of them, and once for the file itself. */
  readonly opened: () => void
  readonly closed: () => void
}

/**
 * A file is read `readings` times until it is sent, so each byte that is read is a part of the work; a small one is read once, and
 * what is missing then is added when it is closed. The bytes of a database are read by SQLite: for databases the bytes of the messages
 * are counted.
 */
export const newFileProgress = (size: number, readings: number, report: Reporter): FileProgress => {
  let [done, open] = [0, 1]
  let isRead = false
  const advance = (bytes: number) => {
    const more = Math.min(bytes, size - done)
    done += more
    if (more > 0) report({ type: 'progress', messages: 0, bytes: more })
  }
  const read = (bytes: number) => {
    isRead = true
    advance(bytes / readings)
  }
  return {
    during: (work) => watchReads(read, work),
    sent: (bytes) => {
      if (!isRead) advance(bytes)
    },
    opened: () => void open++,
    closed: () => {
      if (--open === 0) advance(size - done)
    },
  }
}
