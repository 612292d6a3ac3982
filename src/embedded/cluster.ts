import { chmod, lchown, mkdtemp, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Account } from './run-program.ts'
import type { Binaries } from './binaries.ts'
import type { Place } from './paths.ts'
import { run, type RunOptions } from './run-program.ts'

const UNFINISHED = 'postgres.new-'

const INITDB = ['--encoding=UTF8', '--no-locale', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']

// One statement a line, as single-user mode reads them. CREATEDB: tests clone their databases from a template.
const SQL = `CREATE ROLE tracebook LOGIN CREATEDB
ALTER ROLE tracebook SET log_min_messages = fatal
CREATE DATABASE tracebook OWNER tracebook
`

const must = async (program: string, args: readonly string[], options: RunOptions): Promise<string> => {
  const { code, stdout, stderr } = await run(program, args, options)
  if (code !== 0) throw new Error(`${program} failed with ${code ?? 'a signal'}: ${stderr.slice(-2000).trim()}`)
  return stdout
}

const fill = async (folder: string, { initdb, postgres }: Binaries, options: RunOptions) => {
  await must(initdb, ['-D', folder, '--username=postgres', '--auth=trust', ...INITDB], options)
  const single = ['--single', '-D', folder, '-c', 'exit_on_error=on', '-c', 'log_checkpoints=off', 'postgres']
  await must(postgres, single, { ...options, input: SQL })
}

const persistName = async (folder: string) => {
  const handle = await open(folder)
  await handle.sync().finally(() => handle.close())
}

/** Under a name of its own until it is complete, so that a start never meets half a cluster. */
const create = async ({ dataDir, cluster }: Place, binaries: Binaries, options: RunOptions) => {
  const folder = await mkdtemp(join(dataDir, UNFINISHED))
  try {
    if (options.account) await lchown(folder, options.account.uid, options.account.gid)
    await fill(folder, binaries, options)
    await rename(folder, cluster)
    await persistName(dataDir)
  } catch (error) {
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
    throw error
  }
}

const removeUnfinished = async (dataDir: string) => {
  for (const name of await readdir(dataDir)) {
    // A failure is no harm: an initdb that outlived us may still be writing there, and the next start tries again.
    if (name.startsWith(UNFINISHED)) await rm(join(dataDir, name), { recursive: true, force: true }).catch(() => {})
  }
}

const adopt = async (folder: string, { uid, gid }: Account) => {
  for (const name of await readdir(folder, { recursive: true })) await lchown(join(folder, name), uid, gid)
  await lchown(folder, uid, gid)
}

const requireVersion = async (cluster: string, version: string) => {
  const found = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(() => undefined)
  if (found === undefined) throw new Error(`${cluster} is in the way: it is no PostgreSQL cluster. Move it elsewhere`)
  if (found.trim() === version) return
  throw new Error(
    `${cluster} was made by PostgreSQL ${found.trim()}, and this is ${version}, which cannot read it: ` +
      'move the data with pg_dump, or choose another DATA_DIR',
  )
}

/**
 * Makes the cluster with its user and database, unless it is there.
 * @throws Error when what is there cannot be used, or initdb fails: the message says why
 */
export const ensureCluster = async (place: Place, binaries: Binaries, options: RunOptions): Promise<void> => {
  const version = /\d+/.exec(await must(binaries.postgres, ['--version'], options))?.[0] ?? ''
  await removeUnfinished(place.dataDir)
  const found = await stat(place.cluster).catch(() => undefined)
  if (!found) return create(place, binaries, options)
  await requireVersion(place.cluster, version)
  // Root's after a restored backup; PostgreSQL also refuses other modes.
  if (options.account && found.uid !== options.account.uid) await adopt(place.cluster, options.account)
  if ((found.mode & 0o777) !== 0o700) await chmod(place.cluster, 0o700)
}
