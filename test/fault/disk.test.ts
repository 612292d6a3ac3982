import { suite } from 'uvu'
import { inFolder } from '../eventstore/embedded/support.ts'
import { mountDisk } from './support/disk.ts'
import { checkHistory } from './support/history.ts'
import { worldOnDisk } from './support/world.ts'

const test = suite('fault/disk')

const SIZE_MB = 320
const FULL = 'a full disk'
const seed = Number(process.env.FAULT_SEED ?? '1')

for (const [words, reserveMb] of Object.entries({ 'with a reserve': 64, 'to its last byte': 0 })) {
  test(`on a disk that is full ${words} nothing is lost, and it goes on by itself when there is room`, () =>
    inFolder(async (folder) => {
      const disk = mountDisk(folder, SIZE_MB)
      if (!disk) return console.log('SKIPPED: this machine lets nobody mount a small disk')
      try {
        const world = await worldOnDisk(disk, reserveMb)
        try {
          await checkHistory({ world, seed, faults: [FULL, 'kill -9 of the service'] })
        } finally {
          await world.close()
        }
      } finally {
        disk.unmount()
      }
    }))
}

test.run()
