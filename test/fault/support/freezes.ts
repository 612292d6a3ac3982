import { setTimeout } from 'node:timers/promises'
import { locks } from '../../../src/eventstore/engine/schema.ts'
import { LEADER_LOCK } from '../../../src/server/summary/worker-liveness.ts'
import { onServer } from '../../support/database.ts'
import type { Fault } from './faults.ts'
import { newLoop } from './loop.ts'
import { holderOf, schema } from './nodes.ts'
import type { Random } from './random.ts'
import { rebuildNow, startRebuild } from './rebuilding.ts'
import type { Service } from './service.ts'
import { soon } from './soon.ts'
import { killAll } from './standstill.ts'
import { type Node, otherThan } from './two-nodes.ts'
import type { World } from './world.ts'
import { written } from './written.ts'

const some = (random: Random, from: number, to: number) => from + random.int(to - from)

/** Reads from a node continuously. Each read has to be answered. */
const newReader = (service: Service, token: string, when: string) =>
  newLoop(
    async () => {
      for (const path of ['/v1/feed', '/v1/session', '/v1/traces']) {
        const { status, error } = await service.call('GET', path, { token })
        if (status !== 200) throw new Error(`GET ${path} ${when}: ${status} ${JSON.stringify(error)}`)
      }
    },
    () => 50,
  )

/** Freezes one node for a while: the other one has to answer all reads, and soon writes too if it can lead. */
const whileFrozen = async ({ pair }: World, node: Node, random: Random) => {
  const other = otherThan(pair!, node)
  const when = `at the ${other.name} node while the ${node.name} one is frozen`
  const reader = newReader(other.service(), await written(other.service(), `at the ${other.name} node`), when)
  await setTimeout(random.int(500))
  await node.freeze()
  try {
    reader.start()
    if (other.canLead) await written(other.service(), when)
    if (!other.canLead || random.chance(0.3)) await setTimeout(some(random, 500, 8_000))
  } finally {
    node.thaw()
  }
  await reader.stop()
}

/** The node whose session holds a lock. */
const holding = async ({ pair, database }: World, lock: string): Promise<Node> => {
  let found: Node | undefined
  await soon(`nobody leads: ${lock}`, async () => {
    const holder = await holderOf(database.url(), lock).catch(() => undefined)
    if (!holder) return false
    const text = 'select application_name as name from pg_stat_activity where pid = $1'
    const { rows } = await onServer(database.url(), text, [holder.pid])
    found = pair!.nodes.find(({ name }) => name === rows[0]?.name)
    return found !== undefined
  })
  return found!
}

const frozenLeader =
  (lock: string): Fault =>
  async (world, random) =>
    whileFrozen(world, await holding(world, lock), random)

/** Freezes a rebuild at any moment of its work. Writes have to succeed, and another rebuild has to finish. */
const frozenRebuild: Fault = async (world, random) => {
  const { child, ended } = startRebuild(world)
  const holds = async () => (await holderOf(world.database.url(), locks.rebuild(schema))) !== undefined
  try {
    await soon('the rebuild does not begin', async () => child.exitCode !== null || (await holds()))
    await setTimeout(random.int(400))
    child.kill('SIGSTOP')
    for (const { name, service } of world.pair!.nodes)
      await written(service(), `at the ${name} node while a rebuild is frozen`)
    await rebuildNow(world)
    killAll([child.pid!], 'SIGCONT')
    await ended
  } finally {
    child.kill('SIGKILL')
  }
}

/** The faults that freeze one of two nodes. */
export const freezes: Readonly<Record<string, Fault>> = {
  'a frozen leader of the projections': frozenLeader(locks.runner(schema)),
  'a frozen leader of the summaries': frozenLeader(LEADER_LOCK),
  'a frozen leader of erasure': frozenLeader('tracebook erasure'),
  'a frozen node': (world, random) => whileFrozen(world, random.pick(world.pair!.nodes), random),
  'a frozen rebuild': frozenRebuild,
}
