import { createHash } from 'node:crypto'
import { cp, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Binaries } from './binaries.ts'
import { mayEnter } from './folder-access.ts'
import { type Account, run } from './run-program.ts'

const PREFIX = 'postgres.programs-'

/** Tells one installation from another one, and from one that is newer. */
const nameOf = async (native: string, { postgres }: Binaries) => {
  const { size, mtimeMs } = await stat(postgres)
  const { stdout: version } = await run(postgres, ['--version'])
  return PREFIX + createHash('sha256').update(`${native} ${version} ${size} ${mtimeMs}`).digest('hex').slice(0, 16)
}

const copy = async (native: string, dataDir: string, name: string) => {
  const folder = await mkdtemp(join(dataDir, `${PREFIX}new-`))
  await cp(native, folder, { recursive: true, verbatimSymlinks: true })
  const { code, stderr } = await run('chmod', ['-R', 'a+rX', folder])
  if (code !== 0) throw new Error(`the programs of PostgreSQL cannot be copied: ${stderr.trim()}`)
  await rename(folder, join(dataDir, name))
}

const removeOthers = async (dataDir: string, kept: string) => {
  for (const name of await readdir(dataDir))
    if (name.startsWith(PREFIX) && name !== kept)
      await rm(join(dataDir, name), { recursive: true, force: true }).catch(() => {})
}

/**
 * The programs of PostgreSQL where its account can reach them: as they are installed, else a copy in the data folder
 * (some 60 MB), because what root has installed may lie in a home that is closed to others.
 */
export const reachable = async (
  binaries: Binaries,
  account: Account | undefined,
  dataDir: string,
): Promise<Binaries> => {
  const native = dirname(dirname(binaries.postgres))
  if (!account || (await mayEnter(account, join(native, 'bin')))) {
    await removeOthers(dataDir, '')
    return binaries
  }
  const name = await nameOf(native, binaries)
  if (!(await stat(join(dataDir, name)).catch(() => undefined))) await copy(native, dataDir, name)
  await removeOthers(dataDir, name)
  const copied = (path: string) => join(dataDir, name, 'bin', basename(path))
  return { initdb: copied(binaries.initdb), postgres: copied(binaries.postgres) }
}
