import { attributionGroup, groups, timelineGroup } from '../../projections/index.ts'
import { type Group, MAIN, schemaOf } from '../../src/eventstore/engine/group.ts'
import { locks } from '../../src/eventstore/engine/schema.ts'
import { withConnection } from '../support/database.ts'
import { until } from '../support/until.ts'
import { type IngestOptions, ingest } from './ingest.ts'
import { inTurns } from './measure.ts'
import type { World } from './world.ts'

/** For how many milliseconds the read models of a group have been behind. */
const lagOf = async (world: World, group: string): Promise<number> => {
  const { text } = await world.call('GET', '/metrics', undefined)
  return Number(new RegExp(`lag_seconds\\{group="${group}"\\} (\\S+)`).exec(text)?.[1] ?? 0) * 1_000
}

const LOOK_MS = 100

/** The longest lags that were seen while the work ran. */
export const lagsDuring = async <T>(world: World, { name }: Group, work: Promise<T>) => {
  const most = { group: 0, main: 0 }
  let isRunning = true
  const looking = (async () => {
    while (isRunning) {
      most.group = Math.max(most.group, await lagOf(world, name))
      most.main = Math.max(most.main, await lagOf(world, MAIN))
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  })()
  const result = await work.finally(() => (isRunning = false))
  await looking
  return { result, most }
}

/** Messages a second into a service with a group that is held back, by the lock that its batches need. */
const without = (world: World, group: Group, ms: number, options?: IngestOptions): Promise<number> =>
  withConnection(world.databaseUrl, async (client) => {
    await client.query('select pg_advisory_lock(hashtext($1))', [locks.swap(schemaOf(group))])
    return ingest(world, ms, options)
  })

/** Waits until a group is not behind. */
export const caughtUp = (world: World, { name }: Group) => until(async () => (await lagOf(world, name)) === 0)

/** Waits until no group is behind. */
export const allCaughtUp = async (world: World): Promise<void> => {
  for (const group of groups) await caughtUp(world, group)
}

const ROUNDS = 4

/**
 * Messages a second in batches with the read models of a group and without them, in turns; and by how many milliseconds at most these
 * were behind while they came, beside the main ones.
 */
export const lagBeside = async (
  name: string,
  group: Group,
  { world, ms }: { world: World; ms: number },
  options?: IngestOptions,
) => {
  await ingest(world, ms / 2, options)
  const lag = { group: 0, main: 0 }
  const withGroup = async () => {
    await caughtUp(world, group)
    const { result, most } = await lagsDuring(world, group, ingest(world, ms / 2, options))
    lag.group = Math.max(lag.group, most.group)
    lag.main = Math.max(lag.main, most.main)
    return result
  }
  return [
    { name, unit: 'messages/s', ...(await inTurns(ROUNDS, () => without(world, group, ms / 2, options), withGroup)) },
    { name: `${name} most`, unit: 'ms', value: lag.group, yardstick: Math.max(1, lag.main) },
  ]
}

export const timelineLag = (setting: { world: World; ms: number }) => lagBeside('timeline-lag', timelineGroup, setting)

export const attributionLag = (setting: { world: World; ms: number }) =>
  lagBeside('attribution-lag', attributionGroup, setting)
