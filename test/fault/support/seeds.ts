import { inFolder } from '../../eventstore/embedded/support.ts'
import { acknowledgedWrites } from './asking.ts'
import type { Kind } from './faults.ts'
import { checkHistory } from './history.ts'
import { runs, times } from '../../support/runs.ts'
import type { World } from './world.ts'

const { FAULT_SEED, FAULTS } = process.env
const isUsualRun = FAULT_SEED === undefined && times() === 1

/** The seed that `FAULT_SEED` names; otherwise seeds from 1 on. */
const seeds = FAULT_SEED === undefined ? Array.from({ length: runs(1) }, (_, i) => i + 1) : [Number(FAULT_SEED)]

export type SeedOptions = {
  readonly open: (folder: string, seed: number) => Promise<World>
  readonly kinds?: readonly Kind[]
  /** How many faults a history has in a usual run; otherwise it has twice as many. */
  readonly rounds: number
}

const run = (seed: number, { open, kinds, rounds }: SeedOptions): Promise<readonly string[]> => {
  let told: readonly string[] = []
  return inFolder(async (folder) => {
    const world = await open(folder, seed)
    try {
      const faults = FAULTS ? { faults: FAULTS.split(',') } : {}
      const options = { world, seed, rounds: isUsualRun ? rounds : 2 * rounds, ...(kinds ? { kinds } : {}) }
      told = await checkHistory({ ...options, ...faults })
    } finally {
      await world.close()
    }
  }).then(() => told)
}

/** Runs a history for each seed, and prints the faults of each. @throws the errors found, after the last history */
export const playSeeds = async (name: string, options: SeedOptions): Promise<void> => {
  const findings: number[] = []
  for (const seed of seeds) {
    const before = acknowledgedWrites()
    try {
      const told = await run(seed, options)
      const count = acknowledgedWrites() - before
      console.log(`seed ${seed} with ${name} held, with ${count} writes acknowledged: ${told.join(', then ')}`)
    } catch (error) {
      findings.push(seed)
      console.log(`seed ${seed} with ${name} FAILED: ${(error as Error).stack}`)
    }
  }
  if (findings.length > 0) throw new Error(`not held, with ${name}: seed ${findings.join(', ')}`)
}
