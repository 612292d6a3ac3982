import { suite } from 'uvu'
import { playSeeds } from './support/seeds.ts'
import { embeddedWorld, remoteWorld } from './support/world.ts'

const test = suite('fault/history')

for (const [name, open] of Object.entries({ 'its own database': embeddedWorld, 'a database elsewhere': remoteWorld })) {
  test(`with ${name}, whatever breaks, what was answered holds and nothing else does`, () =>
    playSeeds(name, { open: (folder) => open(folder), rounds: 2 }))
}

test.run()
