import { createHash } from 'node:crypto'
import { cp, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Binaries } from './binaries.ts'
import { canEnter } from './folder-access.ts'
import { type Account, runProgram } from './run-program.ts'

const PREFIX = 'postgres.programs-'

/** A name that is different for each installation, and each version of it. */
const nameOf = async (installed: string, { postgres }: Binaries) => {
  const { size, mtimeMs } = await stat(postgres)
  const { stdout: version } = await runProgram(postgres, ['--version'])
  return PREFIX + createHash('sha256').update(`${installed} ${version} ${size} ${mtimeMs}`).digest('hex').slice(0, 16)
}

const copyBinaries = async (installed: string, dataDir: string, name: string) => {
  const folder = await mkdtemp(join(dataDir, `${PREFIX}new-`))
  await cp(installed, folder, { recursive: true, verbatimSymlinks: true })
  const { code, stderr } = await runProgram('chmod', ['-R', 'a+rX', folder])
  if (code !== 0)
    throw new Error(
      `the programs of PostgreSQL cannot be copied to ${folder}: ${stderr.trim()}. Check its owner and free space`,
    )
  await rename(folder, join(dataDir, name))
}

const removeOtherCopies = async (dataDir: string, current: string) => {
  for (const name of await readdir(dataDir))
    if (name.startsWith(PREFIX) && name !== current)
      await rm(join(dataDir, name), { recursive: true, force: true }).catch(() => {})
}

/**
 * The programs of PostgreSQL that the account can execute: the installed ones, or a copy in the data folder (about 60 MB) if root has
 * installed them in a folder that other users cannot enter.
 */
export const reachableBinaries = async (
  binaries: Binaries,
  account: Account | undefined,
  dataDir: string,
): Promise<Binaries> => {
  const installed = dirname(dirname(binaries.postgres))
  if (!account || (await canEnter(account, join(installed, 'bin')))) {
    await removeOtherCopies(dataDir, '')
    return binaries
  }
  const name = await nameOf(installed, binaries)
  if (!(await stat(join(dataDir, name)).catch(() => undefined))) await copyBinaries(installed, dataDir, name)
  await removeOtherCopies(dataDir, name)
  const copied = (path: string) => join(dataDir, name, 'bin', basename(path))
  return { initdb: copied(binaries.initdb), postgres: copied(binaries.postgres) }
}
