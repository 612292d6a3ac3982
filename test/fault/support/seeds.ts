import { inFolder } from '../../embedded/support.ts'
import { acknowledgedWrites } from './asking.ts'
import type { Kind } from './faults.ts'
import { checkHistory } from './history.ts'
import type { World } from './world.ts'

const { FAULT_SEED = '1', FAULT_SEEDS = '0', FAULT_MINUTES = '0', FAULTS } = process.env
const isShort = Number(FAULT_SEEDS) === 0 && Number(FAULT_MINUTES) === 0

/** From `FAULT_SEED` on: so many as `FAULT_SEEDS` says, else for `FAULT_MINUTES`, else one. */
const seeds = function* () {
  const [first, count] = [Number(FAULT_SEED), Number(FAULT_SEEDS)]
  const end = performance.now() + Number(FAULT_MINUTES) * 60_000
  let seed = first
  do yield seed++
  while (count > 0 ? seed < first + count : performance.now() < end)
}

export type SeedOptions = {
  readonly open: (folder: string, seed: number) => Promise<World>
  readonly kinds?: readonly Kind[]
  /** How many faults, when there is one seed only; more otherwise. */
  readonly rounds: number
}

const run = (seed: number, { open, kinds, rounds }: SeedOptions): Promise<readonly string[]> => {
  let told: readonly string[] = []
  return inFolder(async (folder) => {
    const world = await open(folder, seed)
    try {
      const faults = FAULTS ? { faults: FAULTS.split(',') } : {}
      const options = { world, seed, rounds: isShort ? rounds : 2 * rounds, ...(kinds ? { kinds } : {}) }
      told = await checkHistory({ ...options, ...faults })
    } finally {
      await world.close()
    }
  }).then(() => told)
}

/** Plays histories, seed after seed, and says what was done in each. @throws what was found, after the last one */
export const playSeeds = async (name: string, options: SeedOptions): Promise<void> => {
  const findings: number[] = []
  for (const seed of seeds()) {
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
