import { createHash } from 'node:crypto'
import { chown, lstat, mkdir, realpath, rmdir, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Account } from './run-program.ts'

/** Where the embedded PostgreSQL of one DATA_DIR lives; all paths absolute. */
export type Place = {
  readonly dataDir: string
  readonly cluster: string
  readonly logFile: string
  /** Who may connect: beside the cluster, whose account shall not decide it. */
  readonly hbaFile: string
  readonly socketDir: string
  /** Stands in the command line of each of its processes, which tells them from all others. */
  readonly marker: string
  /** As `pg` takes it. */
  readonly url: string
}

/** The port only names the socket: nothing listens on TCP. Unix limits a socket's path to about 100 bytes. */
const PORT = 5432
const SOCKET_PATH_BYTES = 100

export const socketName = `.s.PGSQL.${PORT}`

/** What is where below a DATA_DIR, which must exist. */
export const placeIn = async (folder: string): Promise<Place> => {
  const dataDir = await realpath(folder)
  const cluster = join(dataDir, 'postgres')
  // The folder itself and not its path, which is the same in every container, and all are seen from the host.
  const { dev, ino } = await stat(dataDir)
  const marker = `tracebook-${createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 16)}`
  const fits = Buffer.byteLength(join(cluster, socketName)) <= SOCKET_PATH_BYTES
  const socketDir = fits ? cluster : join(tmpdir(), marker)
  const url = `postgresql://tracebook@localhost:${PORT}/tracebook?host=${encodeURIComponent(socketDir)}&sslmode=disable`
  return {
    dataDir,
    cluster,
    logFile: join(dataDir, 'postgres.log'),
    hbaFile: join(dataDir, 'postgres.hba'),
    socketDir,
    marker,
    url,
  }
}

/**
 * Makes the folder for the socket when it is not the cluster itself, for the owner only.
 * @throws Error when somebody else has taken its name: the temp folder is everybody's
 */
export const makeSocketDir = async ({ socketDir, cluster }: Place, account: Account | undefined): Promise<void> => {
  if (socketDir === cluster) return
  await mkdir(socketDir, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  const found = await lstat(socketDir)
  const safe = found.isDirectory() && (found.mode & 0o077) === 0
  if (!safe || ![process.getuid?.(), account?.uid].includes(found.uid)) {
    throw new Error(`${socketDir} is not a private folder of ours: remove it, or choose a shorter DATA_DIR`)
  }
  if (account) await chown(socketDir, account.uid, account.gid)
}

/** Undoes `makeSocketDir` after the server has gone. */
export const removeSocketDir = async ({ socketDir, cluster }: Place): Promise<void> => {
  if (socketDir !== cluster) await rmdir(socketDir).catch(() => {})
}
