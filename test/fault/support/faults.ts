import { setTimeout } from 'node:timers/promises'
import { failovers, logFailovers } from './failovers.ts'
import { freezes } from './freezes.ts'
import type { Random } from './random.ts'
import { killAll } from './standstill.ts'
import type { World } from './world.ts'
import { until } from '../../support/until.ts'

/** Breaks something under load. Afterwards the service has to recover, by itself or after a start. */
export type Fault = (world: World, random: Random) => Promise<void>

const pausing = async (pids: readonly number[], ms: number) => {
  killAll(pids, 'SIGSTOP')
  await setTimeout(ms)
  killAll(pids, 'SIGCONT')
}

const some = (random: Random, from: number, to: number) => from + random.int(to - from)

/** Faults of a service and its database, wherever that runs. */
const common: Record<string, Fault> = {
  'kill -9 of the service': async (world) => {
    await world.service().end('SIGKILL')
    await world.start()
  },
  'kill -9 of the service and its database': async (world) => {
    const service = world.service()
    killAll([service.pid, ...(await world.database.processes())], 'SIGKILL')
    await service.ended
    await world.start()
  },
  'kill -9 of the postmaster': async (world) => killAll([await world.database.postmaster()], 'SIGKILL'),
  'kill -9 of a backend': async (world, random) => {
    const postmaster = await world.database.postmaster()
    const others = (await world.database.processes()).filter((pid) => pid !== postmaster)
    killAll([random.pick(others)], 'SIGKILL')
  },
  'a stopped database': async (world, random) => pausing(await world.database.processes(), some(random, 1_000, 8_000)),
  'a stopped service': async (world, random) => pausing([world.service().pid], some(random, 500, 4_000)),
  SIGTERM: async (world) => {
    const how = await world.service().end('SIGTERM')
    if (how !== 0) throw new Error(`SIGTERM ended it with ${how}`)
    await world.start()
  },
  'two SIGTERMs': async (world, random) => {
    const service = world.service()
    void service.end('SIGTERM')
    await setTimeout(random.int(300))
    const how = await service.end('SIGTERM')
    if (how !== 0) throw new Error(`two SIGTERMs ended it with ${how}`)
    await world.start()
  },
  'SIGTERM during a start': async (world, random) => {
    await world.service().end('SIGKILL')
    const how = await world.startInVain(async (child) => {
      await setTimeout(random.int(2_500))
      child.kill('SIGTERM')
    })
    if (how !== 0 && how !== 'SIGTERM') throw new Error(`SIGTERM during a start ended it with ${how}`)
    await world.start()
  },
}

/** Faults of the network between them. */
const between: Record<string, Fault> = {
  'cut connections': async (world, random) => {
    for (let i = some(random, 1, 20); i > 0; i--) {
      world.proxy!.cut()
      await setTimeout(random.int(150))
    }
  },
  'a connection cut here and there': async (world, random) => {
    for (let i = some(random, 10, 60); i > 0; i--) {
      world.proxy!.cutSome(() => random.chance(0.2))
      await setTimeout(random.int(60))
    }
  },
  'a network that stalls': async (world, random) => {
    world.proxy!.set('stall')
    await setTimeout(some(random, 500, 8_000))
    world.proxy!.set('pass')
  },
  'answers that are lost': async (world, random) => {
    world.proxy!.set('deaf')
    await setTimeout(some(random, 100, 4_000))
    world.proxy!.set('pass')
    world.proxy!.cut()
  },
  'connections that are forgotten': async (world) => world.proxy!.forget(),
  'a network that refuses': async (world, random) => {
    world.proxy!.set('refuse')
    await setTimeout(some(random, 500, 4_000))
    world.proxy!.set('pass')
  },
}

const MiB = 1024 * 1024

const disks: Record<string, Fault> = {
  /** Until no write succeeds any more, for whatever reason: the reserve, a table that cannot grow, or a panic of the WAL. */
  'a full disk': async ({ disk, service }, random) => {
    disk!.fill(random.int(6 * MiB))
    for (let refused = 0; refused < 5; refused++) {
      await until(
        async () => (await service().call('POST', '/v1/session', { body: { deviceId: 'full' } })).status === 503,
      )
    }
    disk!.free()
  },
}

const ofOneNode =
  (fault: Fault): Fault =>
  (world, random) =>
    fault({ ...world, proxy: random.pick(world.pair!.nodes).proxy }, random)

const named = (faults: Readonly<Record<string, Fault>>, suffix: string, change: (fault: Fault) => Fault) =>
  Object.fromEntries(Object.entries(faults).map(([name, fault]) => [`${name} ${suffix}`, change(fault)]))

export type Kind = 'process' | 'network' | 'disk' | 'freeze' | 'failover'

/** The faults that a world can have, by kind and name. */
export const faultsOf = ({ proxy, disk, pair }: World): Readonly<Record<Kind, Readonly<Record<string, Fault>>>> => ({
  process: common,
  network: pair ? named(between, 'of one node', ofOneNode) : proxy ? between : {},
  disk: disk ? disks : {},
  freeze: pair ? freezes : {},
  failover: pair ? { ...failovers, ...(pair.double ? logFailovers : {}) } : {},
})
