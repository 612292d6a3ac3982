import { timelineGroup } from '../../projections/index.ts'
import { MAIN, schemaOf } from '../../src/engine/group.ts'
import { locks } from '../../src/engine/schema.ts'
import { withConnection } from '../support/database.ts'
import { until } from '../support/until.ts'
import { ingest } from './ingest.ts'
import { mean } from './measure.ts'
import type { World } from './world.ts'

/** For how many milliseconds the read models of a group have been behind. */
const lagOf = async (world: World, group: string): Promise<number> => {
  const { text } = await world.call('GET', '/metrics', undefined)
  return Number(new RegExp(`lag_seconds\\{group="${group}"\\} (\\S+)`).exec(text)?.[1] ?? 0) * 1_000
}

const LOOK_MS = 100

/** The longest lags that were seen while the work ran. */
const lagsDuring = async <T>(world: World, work: Promise<T>) => {
  const most = { timeline: 0, main: 0 }
  let isRunning = true
  const looking = (async () => {
    while (isRunning) {
      most.timeline = Math.max(most.timeline, await lagOf(world, timelineGroup.name))
      most.main = Math.max(most.main, await lagOf(world, MAIN))
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  })()
  const result = await work.finally(() => (isRunning = false))
  await looking
  return { result, most }
}

/** Messages a second into a service whose timeline is held back, by the lock that its batches need. */
const withoutTimeline = (world: World, ms: number): Promise<number> =>
  withConnection(world.databaseUrl, async (client) => {
    await client.query('select pg_advisory_lock(hashtext($1))', [locks.swap(schemaOf(timelineGroup))])
    return ingest(world, ms)
  })

const caughtUp = (world: World) => until(async () => (await lagOf(world, timelineGroup.name)) === 0)

const ROUNDS = 4

/**
 * Messages a second in batches with the timeline and without it, in turns; and by how many milliseconds at most the timeline
 * was behind while they came, beside the main read models.
 */
export const timelineLag = async ({ world, ms }: { world: World; ms: number }) => {
  await ingest(world, ms / 2)
  const [values, yardsticks]: [number[], number[]] = [[], []]
  const lag = { timeline: 0, main: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    yardsticks.push(await withoutTimeline(world, ms / 2))
    await caughtUp(world)
    const { result, most } = await lagsDuring(world, ingest(world, ms / 2))
    values.push(result)
    lag.timeline = Math.max(lag.timeline, most.timeline)
    lag.main = Math.max(lag.main, most.main)
  }
  return [
    { name: 'timeline-lag', unit: 'messages/s', value: mean(values), yardstick: mean(yardsticks) },
    { name: 'timeline-lag most', unit: 'ms', value: lag.timeline, yardstick: Math.max(1, lag.main) },
  ]
}
