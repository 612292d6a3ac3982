import { createHash } from 'node:crypto'
import { chown, lstat, mkdir, realpath, rmdir, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Account } from './run-program.ts'

/** The files and folders of the embedded PostgreSQL of one DATA_DIR, as absolute paths, and how to reach it. */
export type Paths = {
  readonly dataDir: string
  readonly cluster: string
  readonly logFile: string
  /** The file that says who may connect. Outside of the cluster, because the cluster's account must not be able to change it. */
  readonly hbaFile: string
  readonly socketDir: string
  /** A text in the command line of each of its processes, which identifies them. */
  readonly marker: string
  /** The connection string. */
  readonly url: string
}

/** The port is only part of the socket's name: the server does not listen on TCP. Unix limits a socket's path to about 100 bytes. */
const PORT = 5432
const SOCKET_PATH_BYTES = 100

export const socketName = `.s.PGSQL.${PORT}`

/** The paths of a DATA_DIR, which must exist. */
export const pathsIn = async (folder: string): Promise<Paths> => {
  const dataDir = await realpath(folder)
  const cluster = join(dataDir, 'postgres')
  // From device and inode, because several containers may have the same path, and the host sees all their processes.
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
 * Creates the private folder for the socket, unless the socket is in the cluster.
 * @throws Error if another user has created a folder with this name: all users can write to the temporary folder
 */
export const makeSocketDir = async ({ socketDir, cluster }: Paths, account: Account | undefined): Promise<void> => {
  if (socketDir === cluster) return
  await mkdir(socketDir, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  const found = await lstat(socketDir)
  const safe = found.isDirectory() && (found.mode & 0o077) === 0
  if (!safe || ![process.getuid?.(), account?.uid].includes(found.uid)) {
    throw new Error(`${socketDir} is not a private folder of this user: remove it, or choose a shorter DATA_DIR`)
  }
  if (account) await chown(socketDir, account.uid, account.gid)
}

/** Removes the folder of `makeSocketDir`, after the server has ended. */
export const removeSocketDir = async ({ socketDir, cluster }: Paths): Promise<void> => {
  if (socketDir !== cluster) await rmdir(socketDir).catch(() => {})
}
