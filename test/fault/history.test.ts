import { suite } from 'uvu'
import { inFolder } from '../embedded/support.ts'
import { checkHistory } from './support/history.ts'
import { embeddedWorld, remoteWorld } from './support/world.ts'

const test = suite('fault/history')

/** `npm run test:fault` goes on for so long, seed after seed. */
const { FAULT_SEED = '1', FAULT_MINUTES = '0', FAULTS } = process.env
const isShort = Number(FAULT_MINUTES) === 0
const chosen = FAULTS ? { faults: FAULTS.split(',') } : {}
const seeds = function* () {
  const end = performance.now() + Number(FAULT_MINUTES) * 60_000
  let seed = Number(FAULT_SEED)
  do yield seed++
  while (performance.now() < end)
}

for (const [name, open] of Object.entries({ 'its own database': embeddedWorld, 'a database elsewhere': remoteWorld })) {
  test(`with ${name}, whatever breaks, what was answered holds and nothing else does`, async () => {
    for (const seed of seeds()) {
      await inFolder(async (folder) => {
        const world = await open(folder)
        try {
          await checkHistory({ world, seed, rounds: isShort ? 3 : 6, ...chosen })
        } finally {
          await world.close()
        }
      })
      if (!isShort) console.log(`seed ${seed} with ${name}: held`)
    }
  })
}

test.run()
