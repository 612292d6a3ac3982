import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { mainGroup } from '../../projections/index.ts'
import { schemaOf } from '../../src/eventstore/engine/group.ts'
import { sessionFeedStatement } from '../../src/server/feed/queries.ts'
import { openPostgresLog } from '../../src/eventstore/log/postgres/postgres-log.ts'
import { wholeAppends } from '../../src/eventstore/log/whole-appends.ts'
import { newPool } from '../../src/eventstore/postgres/connect.ts'
import { onServer } from '../support/database.ts'
import { rate, requestBytes, requestRate } from './http.ts'
import { type Named, type Setting, between, mean, metadata } from './measure.ts'
import { processorUs } from './processor.ts'
import { allCaughtUp } from './timeline-lag.ts'
import type { World } from './world.ts'
import { hello } from './yardsticks.ts'

const FEED_TRACES = 200_000

let feedFilled: string | undefined

/** 200,000 public traces of 200 users, written to the log as the service would. */
const fillFeed = async (world: World): Promise<string> => {
  if (feedFilled) return feedFilled
  const users: Awaited<ReturnType<World['signIn']>>[] = []
  for (let i = 0; i < 20; i++) users.push(await world.signIn(`feed-${i}`))
  const log = wholeAppends(openPostgresLog({ url: world.databaseUrl }))
  for (let i = 0; i < FEED_TRACES; i += 500) {
    await Promise.all(
      Array.from({ length: 500 }, (_, k) => {
        const { namespaceId, userId } = users[(i + k) % users.length]!
        const data = {
          externalId: `session-${i + k}`,
          namespaceId,
          createdBy: userId,
          agentId: 'claude-code',
          title: `Repair the parser of file ${i + k}`,
          model: 'claude-opus-4-5',
          visibility: 'public',
        }
        return log.append(`trace-${randomUUID()}`, 'none', [
          {
            id: randomUUIDv7(),
            type: 'TraceCreated',
            data: JSON.stringify(data),
            metadata: metadata(0, 1, randomUUIDv7()),
          },
        ])
      }),
    )
  }
  await log.close()
  await allCaughtUp(world)
  await onServer(world.databaseUrl, 'analyze')
  feedFilled = users[0]!.authorization
  return feedFilled
}

const get = (world: World, workers: number, ms: number, headers: Record<string, string>) => {
  const request = requestBytes('GET', '/v1/feed', headers)
  return requestRate(world.url, workers, ms, () => request)
}

/**
 * The public feed, beside a bare HTTP server: requests a second, and in a second of processor time of each, because the benchmark takes longer to
 * read the 20 kB of an answer than the service to send them.
 */
export const feedPublic = async ({ world, helloUrl, helloPid, ms }: Setting): Promise<readonly Named[]> => {
  await fillFeed(world)
  const ofProcessor = async (pid: number, work: () => Promise<number>) => {
    const before = processorUs(pid).own
    const rate = await work()
    return { rate, perSecond: (rate * ms * 1_000) / (processorUs(pid).own - before) }
  }
  const bare = () => ofProcessor(helloPid, () => hello(helloUrl, 16, ms))
  const [before, feed, after] = [await bare(), await ofProcessor(world.pid, () => get(world, 16, ms, {})), await bare()]
  return [
    { name: 'feed-public', unit: 'requests/s', value: feed.rate, yardstick: mean([before.rate, after.rate]) },
    {
      ...{ name: 'feed-public: processor', unit: 'requests/s', value: feed.perSecond },
      yardstick: mean([before.perSecond, after.perSecond]),
    },
  ]
}

/** The feed of a session, beside its bare query. */
export const feedSession = async ({ world, ms }: Setting) => {
  const authorization = await fillFeed(world)
  const { namespaceId } = JSON.parse(await world.ask('GET', '/v1/session', authorization)).data.session
  const values = [Number.MAX_SAFE_INTEGER, 'ffffffff-ffff-ffff-ffff-ffffffffffff', 51, namespaceId]
  const bare = async () => {
    const pool = newPool({ url: world.databaseUrl, name: 'yardstick', max: 8, schema: schemaOf(mainGroup) })
    const result = await rate(8, ms / 2, async () => {
      await pool.query({ name: 'feed', text: sessionFeedStatement, values })
      return 1
    })
    await pool.end()
    return result
  }
  return between(bare, () => get(world, 8, ms, { authorization }))
}
