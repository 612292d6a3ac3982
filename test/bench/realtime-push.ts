import { fork } from 'node:child_process'
import { once } from 'node:events'
import { ingest } from './ingest.ts'
import { type Named, type Setting, percentile } from './measure.ts'
import { openWorld } from './world.ts'

const WATCHERS = 1_000

/**
 * What 1,000 subscriptions to the public feed are told while batches are written, and what they cost those who write. Public
 * traces are made one after the other: each once all have been shown the one before.
 */
export const realtimePush = async ({ ms }: Setting): Promise<readonly Named[]> => {
  const world = await openWorld('', { REALTIME_CONNECTIONS_ADDRESS: '10000' })
  const watchers = fork(new URL('realtime-watchers.ts', import.meta.url), [world.url, `${WATCHERS}`])
  try {
    const { authorization } = await world.signIn('who makes traces public')
    const before = await ingest(world, ms)
    await once(watchers, 'message')
    const times: number[] = []
    let isOver = false
    const makePublic = async () => {
      for (let written = 0; !isOver; written++) {
        const body = { title: `number ${written}`, visibility: 'public' }
        await world.call('PUT', `/v1/traces/public-${written}`, authorization, body)
        watchers.send({ written, at: performance.timeOrigin + performance.now() })
        const [answer] = (await once(watchers, 'message')) as [{ times: number[] }]
        times.push(...answer.times)
      }
    }
    const making = makePublic()
    const value = await ingest(world, ms)
    isOver = true
    await making
    watchers.kill()
    await once(watchers, 'exit')
    const yardstick = (before + (await ingest(world, ms))) / 2
    return [
      { name: 'realtime-push p50', unit: 'ms', value: percentile(times, 0.5), yardstick: 250 },
      { name: 'realtime-push p99', unit: 'ms', value: percentile(times, 0.99), yardstick: 250 },
      { name: 'realtime-push ingest', unit: 'messages/s', value, yardstick },
    ]
  } finally {
    watchers.kill()
    await world.close()
  }
}
