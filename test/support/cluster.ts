import { execFile } from 'node:child_process'
import { access, chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chooseAccount } from '../../src/embedded/account.ts'
import { findBinaries } from '../../src/embedded/binaries.ts'
import { ensureCluster } from '../../src/embedded/cluster.ts'
import { pathsIn } from '../../src/embedded/paths.ts'
import { reachableBinaries } from '../../src/embedded/reachable-binaries.ts'
import { silent } from './silent.ts'

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

/** Makes the files of a PostgreSQL in a folder, as a first start does. */
const make = async (folder: string) => {
  await chmod(folder, 0o711)
  const paths = await pathsIn(folder)
  const account = await chooseAccount(paths.cluster, silent)
  await ensureCluster(paths, await reachableBinaries(await findBinaries(), account, folder), { account })
  return paths.cluster
}

/** The files that are copied, made once for a run. Of two processes that make them at once one is the first. */
const original = async (ofRun: string) => {
  const place = join(ofRun, 'cluster')
  if (await exists(place)) return place
  const folder = await mkdtemp(join(ofRun, 'new-cluster-'))
  const made = await make(folder)
  await rename(made, place).catch(async (error) => {
    if (!(await exists(place))) throw error
  })
  await rm(folder, { recursive: true, force: true })
  return place
}

/**
 * Gives a DATA_DIR that is not there yet, or is empty, the PostgreSQL of a first start, as a copy: that takes a tenth of what it takes to
 * make one. A file that is run by hand has a first start instead.
 */
export const giveCluster = async (dataDir: string): Promise<void> => {
  const { TEST_FOLDER: ofRun } = process.env
  const place = join(dataDir, 'postgres')
  if (ofRun === undefined || (await exists(place))) return
  await mkdir(dataDir, { recursive: true, mode: 0o711 })
  await promisify(execFile)('cp', ['-a', await original(ofRun), place]) // with owners and modes, on which the server insists
}
