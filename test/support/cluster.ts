import { execFile } from 'node:child_process'
import { access, chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chooseAccount } from '../../src/eventstore/embedded/account.ts'
import { findBinaries } from '../../src/eventstore/embedded/binaries.ts'
import { ensureCluster } from '../../src/eventstore/embedded/cluster.ts'
import { pathsIn } from '../../src/eventstore/embedded/paths.ts'
import { reachableBinaries } from '../../src/eventstore/embedded/reachable-binaries.ts'
import { silent } from './silent.ts'

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

/** Creates the files of a PostgreSQL in a folder, as the first start of a service does. */
const make = async (folder: string) => {
  await chmod(folder, 0o711)
  const paths = await pathsIn(folder)
  const account = await chooseAccount(paths.cluster, silent)
  await ensureCluster(paths, await reachableBinaries(await findBinaries(), account, folder), { account })
  return paths.cluster
}

/** The folder of the files to copy, which are created once for a run. If two processes create them at once, the first one to end counts. */
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
 * Copies the PostgreSQL of a first start into a DATA_DIR that does not exist or is empty, which takes a tenth of the time of a first
 * start. Does nothing for a test file that is run without the runner: the service then makes its own first start.
 */
export const giveCluster = async (dataDir: string): Promise<void> => {
  const { TEST_FOLDER: ofRun } = process.env
  const place = join(dataDir, 'postgres')
  if (ofRun === undefined || (await exists(place))) return
  await mkdir(dataDir, { recursive: true, mode: 0o711 })
  await promisify(execFile)('cp', ['-a', await original(ofRun), place]) // with owners and modes, on which the server insists
}
