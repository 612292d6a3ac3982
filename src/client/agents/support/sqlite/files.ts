import { open, stat } from 'node:fs/promises'

/** The files of a SQLite database at one moment. */
export type DatabaseFiles = {
  /** A stamp of the database file, which differs once the file may have changed. */
  readonly main: string
  /** The same for the write-ahead log; empty if there is none. */
  readonly wal: string
  /** Whether the write-ahead log holds anything. */
  readonly hasWal: boolean
  /** Whether a rollback journal is in use: a transaction is being written, or was being written when its program crashed. */
  readonly isJournalHot: boolean
  /** The time of the last change, in milliseconds. */
  readonly changedAt: number
}

const JOURNAL_MAGIC = 'd9d505f920a163d7'
/** The bytes in which a database counts its transactions. Two of them may come within one tick of the file system's clock. */
const CHANGE_COUNTER = { from: 24, to: 28 }

/** The first bytes of a file; empty if there is no such file. */
const head = async (path: string, length: number): Promise<Buffer> => {
  const file = await open(path).catch(() => undefined)
  if (!file) return Buffer.alloc(0)
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position: 0 })
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

const found = (path: string) => stat(path, { bigint: true }).catch(() => undefined)

type Stats = { readonly ino: bigint; readonly size: bigint; readonly mtimeNs: bigint }

const textOf = (stats: Stats | undefined): string => (stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs}` : '')

/** Looks at the files of the database at `path`. Throws what `stat` throws where the database itself is missing. */
export const lookAtFiles = async (path: string): Promise<DatabaseFiles> => {
  const main = await stat(path, { bigint: true })
  const [wal, journal, counter] = await Promise.all([
    found(`${path}-wal`),
    head(`${path}-journal`, 8),
    head(path, CHANGE_COUNTER.to),
  ])
  return {
    main: `${textOf(main)} ${counter.subarray(CHANGE_COUNTER.from).toString('hex')}`,
    wal: textOf(wal),
    hasWal: (wal?.size ?? 0n) > 0n,
    isJournalHot: journal.toString('hex') === JOURNAL_MAGIC,
    changedAt: Number((main.mtimeNs > (wal?.mtimeNs ?? 0n) ? main.mtimeNs : wal!.mtimeNs) / 1_000_000n),
  }
}

/** The header of the write-ahead log, which changes when the log starts again from its beginning. */
export const walHeader = async (path: string): Promise<string> => (await head(`${path}-wal`, 32)).toString('hex')
