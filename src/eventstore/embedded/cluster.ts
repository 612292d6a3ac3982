import { chmod, lchown, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../../base/replace-file.ts'
import type { Binaries } from './binaries.ts'
import type { Paths } from './paths.ts'
import { type Account, runProgram, type RunOptions } from './run-program.ts'

const UNFINISHED = 'postgres.new-'

const INITDB = ['--encoding=UTF8', '--no-locale', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']

// One statement on each line, because single-user mode reads lines. CREATEDB: tests clone their databases from a template.
const SQL = `CREATE ROLE tracebook LOGIN CREATEDB
ALTER ROLE tracebook SET log_min_messages = fatal
CREATE DATABASE tracebook OWNER tracebook
`

const runOrThrow = async (program: string, args: readonly string[], options: RunOptions): Promise<string> => {
  const { code, stdout, stderr } = await runProgram(program, args, options)
  if (code !== 0) throw new Error(`${program} failed with ${code ?? 'a signal'}: ${stderr.slice(-2000).trim()}`)
  return stdout
}

const initCluster = async (folder: string, { initdb, postgres }: Binaries, options: RunOptions) => {
  await runOrThrow(initdb, ['-D', folder, '--username=postgres', '--auth=trust', ...INITDB], options)
  const single = ['--single', '-D', folder, '-c', 'exit_on_error=on', '-c', 'log_checkpoints=off', 'postgres']
  await runOrThrow(postgres, single, { ...options, input: SQL })
}

/** Creates the cluster in a folder with another name, and renames it when it is complete: a start never finds half a cluster. */
const createCluster = async ({ dataDir, cluster }: Paths, binaries: Binaries, options: RunOptions) => {
  const folder = await mkdtemp(join(dataDir, UNFINISHED))
  try {
    if (options.account) await lchown(folder, options.account.uid, options.account.gid)
    await initCluster(folder, binaries, options)
    await rename(folder, cluster)
    await syncFolder(dataDir)
  } catch (error) {
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
    throw error
  }
}

const removeUnfinished = async (dataDir: string) => {
  for (const name of await readdir(dataDir)) {
    // May fail while an initdb of a killed process is still writing there. The next start tries again.
    if (name.startsWith(UNFINISHED)) await rm(join(dataDir, name), { recursive: true, force: true }).catch(() => {})
  }
}

const changeOwner = async (folder: string, { uid, gid }: Account) => {
  for (const name of await readdir(folder, { recursive: true })) await lchown(join(folder, name), uid, gid)
  await lchown(folder, uid, gid)
}

const assertVersion = async (cluster: string, version: string) => {
  const found = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(() => undefined)
  if (found === undefined)
    throw new Error(`${cluster} is not a PostgreSQL cluster, but one has to be created there: move it elsewhere`)
  if (found.trim() === version) return
  throw new Error(
    `${cluster} was created by PostgreSQL ${found.trim()}, which this version (${version}) cannot read: ` +
      'write a `tracebook backup` with the earlier Tracebook, and restore it with this one into another DATA_DIR',
  )
}

/**
 * Creates the cluster with its user and database, unless it exists.
 * @throws Error if an existing one cannot be used, or initdb fails
 */
export const ensureCluster = async (paths: Paths, binaries: Binaries, options: RunOptions): Promise<void> => {
  const version = /\d+/.exec(await runOrThrow(binaries.postgres, ['--version'], options))?.[0] ?? ''
  await removeUnfinished(paths.dataDir)
  const found = await stat(paths.cluster).catch(() => undefined)
  if (!found) return createCluster(paths, binaries, options)
  await assertVersion(paths.cluster, version)
  // After a restore of its files they may belong to root. PostgreSQL refuses another owner, and other modes.
  if (options.account && found.uid !== options.account.uid) await changeOwner(paths.cluster, options.account)
  if ((found.mode & 0o777) !== 0o700) await chmod(paths.cluster, 0o700)
}
