import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { openFarProxy } from './far-proxy.ts'
import { type Named, type Setting, atMost } from './measure.ts'
import { withUsers } from './sync.ts'
import { publicTrace } from './web-trace.ts'
import type { World } from './world.ts'

const ROUND_TRIP_MS = 50
const TRIES = 3
/** What the two measurements may differ by besides, in round trips. */
const TOLERANCE = 0.3
/** A value is not sent for so long after the one before, whatever the distance. */
const PACE_MS = 300

/** What somebody waits for, from one address of the service: how long it took in the best of some tries. */
type Waits = (url: string) => Promise<Record<string, number>>

/** A first sync of one session, and another one of which nothing is new. */
const syncs: Waits = (url) =>
  withUsers({ url }, async (newUser) => {
    const { sync } = await newUser(1, 100_000)
    return { 'sync-first': (await sync()).ms, 'sync-again': (await sync()).ms }
  })

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const started = performance.now()
  await work()
  return performance.now() - started
}

const get = async (url: string): Promise<string> => {
  const answer = await fetch(url)
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status}`)
  return answer.text()
}

const ASSET = /(?:href|src)="(\/assets\/[^"]+)"/g

/** The page of a session, with the style and the script that it names, and all that these name. */
const page =
  (world: World): Waits =>
  async (url) => {
    const { path } = await publicTrace(world, 100)
    const load = async (paths: ReadonlySet<string>, seen: ReadonlySet<string>): Promise<void> => {
      const texts = await Promise.all([...paths].map((one) => get(`${url}${one}`)))
      const named = new Set(texts.flatMap((text) => [...text.matchAll(ASSET)].map(([, asset]) => asset!)))
      const all = seen.union(paths)
      if (named.difference(all).size > 0) await load(named.difference(all), all)
    }
    return { page: await timed(() => load(new Set([path]), new Set())) }
  }

/** A message, from its write by another client until its text has come to one that subscribes to the session's messages. */
const push =
  (world: World): Waits =>
  async (url) => {
    const { authorization } = await world.signIn(`push-${randomUUID()}`)
    const externalId = randomUUID()
    await world.call('PUT', `/v1/traces/${externalId}`, authorization, {})
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/realtime`, { headers: { authorization } })
    await once(socket, 'open')
    const until = async (text: string) => {
      for (;;) if (String((await once(socket, 'message'))[0]).includes(text)) return
    }
    const subscribed = until('"result"')
    socket.send(
      JSON.stringify({
        type: 'subscribe',
        id: 'm',
        query: 'traces:getMessages',
        args: { externalId, includeParts: true },
      }),
    )
    await subscribed
    await setTimeout(PACE_MS)
    const shown = until('seen at once')
    const body = { role: 'user', textContent: 'seen at once' }
    const ms = await timed(() =>
      Promise.all([shown, world.call('PUT', `/v1/traces/${externalId}/messages/m`, authorization, body)]),
    )
    socket.close()
    return { push: ms }
  }

/** The best of some tries, after one that warms up. */
const best = async (waits: Waits, url: string): Promise<Record<string, number>> => {
  await waits(url)
  const tries: Record<string, number>[] = []
  while (tries.length < TRIES) tries.push(await waits(url))
  return Object.fromEntries(Object.keys(tries[0]!).map((name) => [name, Math.min(...tries.map((one) => one[name]!))]))
}

/**
 * What is needed. A first sync: a connection, the user's namespace, whether the session is there (or another version of the service would
 * take it from the public), its trace, and its messages. Another one asks whether the service still has the log. A page: its text, then all
 * that it names, over a connection that is there. A push goes one way.
 */
const NEEDED: Readonly<Record<string, number>> = { 'sync-first': 5, 'sync-again': 2, page: 2, push: 0.5 }

const measure = async (near: string, far: string, waits: Waits): Promise<readonly Named[]> => {
  const [close, distant] = [await best(waits, near), await best(waits, far)]
  return Object.entries(distant).map(([name, ms]) =>
    atMost(`round-trips: ${name}`, 'of 50 ms', (ms - close[name]!) / ROUND_TRIP_MS, NEEDED[name]! + TOLERANCE),
  )
}

/** For how many round trips a client waits that is 50 ms off: of what it takes there, and of what it takes nearby, the difference. */
export const roundTrips = async ({ world }: Setting): Promise<readonly Named[]> => {
  const far = await openFarProxy(world.url, ROUND_TRIP_MS)
  try {
    const rows: Named[] = []
    for (const waits of [syncs, page(world), push(world)]) rows.push(...(await measure(world.url, far.url, waits)))
    return rows
  } finally {
    await far.close()
  }
}
