import { setTimeout } from 'node:timers/promises'
import type { Fault } from './faults.ts'
import type { Random } from './random.ts'
import { type Pair, otherThan } from './two-nodes.ts'
import type { World } from './world.ts'
import { written } from './written.ts'

/** Waits a while, in which the data are written that will be lost. */
const busyForAWhile = (random: Random) => setTimeout(300 + random.int(3_000))

/** At random a node is frozen meanwhile: when it wakes up, others may have written more than it has seen. */
const failOver = async ({ pair }: World, random: Random, work: () => Promise<void>) => {
  const frozen = random.chance(0.35) ? random.pick(pair!.nodes) : undefined
  await frozen?.freeze()
  try {
    await work()
    if (frozen && otherThan(pair!, frozen).canLead)
      await written(otherThan(pair!, frozen).service(), 'after the failover, while the other node is frozen')
  } finally {
    frozen?.thaw()
  }
}

const olderCopy: Fault = async (world, random) => {
  const { server, moments } = world.pair!
  const holdsLog = world.environment().EVENTSTORE_URL === ''
  await server.copyAlive(() => holdsLog && moments.copied())
  await busyForAWhile(random)
  await failOver(world, random, () => server.putBack(() => holdsLog && moments.lost()))
}

/** The data of a double at one moment. The double can be put back to them while it is stopped. */
const tailOf = ({ double, moments }: Pair) => {
  const count = double!.store.all().length
  moments.copied()
  return () => {
    double!.store.keepFirst(count)
    moments.lost()
  }
}

const lostTail: Fault = async (world, random) => {
  const { double } = world.pair!
  const putBack = tailOf(world.pair!)
  await busyForAWhile(random)
  await failOver(world, random, async () => {
    await double!.stop()
    putBack()
    await double!.start()
  })
}

/** Puts the log back to a moment before or after the copy of the database, so that either may be ahead of the other. */
const olderCopies: Fault = async (world, random) => {
  const { double, server } = world.pair!
  const isLogOlder = random.chance(0.5)
  let putBack = isLogOlder ? tailOf(world.pair!) : () => {}
  if (isLogOlder) await busyForAWhile(random)
  await server.copyAlive(() => {})
  if (!isLogOlder) {
    await busyForAWhile(random)
    putBack = tailOf(world.pair!)
  }
  await busyForAWhile(random)
  await failOver(world, random, async () => {
    await double!.stop()
    await server.putBack(putBack)
    await double!.start()
  })
}

/** The faults that lose data. */
export const failovers: Readonly<Record<string, Fault>> = { 'an older copy of the database': olderCopy }

/** The same if the log is in a double. */
export const logFailovers: Readonly<Record<string, Fault>> = {
  'a log that has lost its end': lostTail,
  'older copies of the database and of the log': olderCopies,
}
