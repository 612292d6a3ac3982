import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { readScripts } from '../../src/server/pages/scripts.ts'
import { openConnection, requestBytes, requestRate } from './http.ts'
import { type Named, type Setting, atMost, mean, percentile } from './measure.ts'
import { type Visit, type Visited, withBrowser } from './web-browser.ts'
import { type PublicTrace, publicTrace } from './web-trace.ts'
import type { World } from './world.ts'

const COUNT = 100
const LONG = 10_000
const CLIENTS = 8
/** What an event loop tells of its steps is so many milliseconds more: it looks that often. */
const LOOKS_EVERY_MS = 10

/** A reader with another theme than that of the system is given a page that was made for them. */
const UNCACHED = { cookie: 'theme=dark' }
const AS_BROWSERS = { 'accept-encoding': 'gzip' }

/** Milliseconds until the first byte of each of these answers, for 8 clients that ask again at once. */
const firstBytes = async (url: string, path: string, headers: Record<string, string>, ms: number) => {
  const request = requestBytes('GET', path, headers)
  const times: number[] = []
  await requestRate(
    url,
    CLIENTS,
    ms,
    () => request,
    ({ first }, sent) => times.push(first - sent),
  )
  return times
}

/** Milliseconds of writes of one client, one after the other, while something else is done. */
const writesDuring = async <T>(world: World, { api, authorization }: PublicTrace, work: Promise<T>) => {
  const connection = await openConnection(world.url)
  const times: number[] = []
  let isOver = false
  void work.finally(() => (isOver = true)).catch(() => {})
  for (let i = 0; !isOver; i++) {
    const sent = performance.now()
    const body = JSON.stringify({ role: 'user', textContent: `${i}` })
    await connection.send(requestBytes('PUT', `${api}/messages/m`, { authorization }, body))
    times.push(performance.now() - sent)
    await setTimeout(5)
  }
  connection.close()
  return { times, result: await work }
}

/** The longest step of the service's event loop since it was asked the last time, in milliseconds. */
const longestStep = async (world: World): Promise<number> => {
  const { text } = await world.call('GET', '/metrics', undefined)
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)?.[1]) * 1_000 - LOOKS_EVERY_MS
}

const firstByteRows = (name: string, most: number, times: readonly number[], bare: readonly number[]): Named[] => [
  ...[['p50', 0.5] as const, ['p95', 0.95] as const].map(([what, share]) => ({
    name: `web-page ${name} ${what}`,
    unit: 'ms',
    value: percentile(times, share),
    yardstick: percentile(bare, share),
    ...(what === 'p95' ? { most } : {}),
  })),
]

/** Until the first byte, for readers who are given a page of their own and the cached one; and what writers notice of the former. */
const serving = async ({ world, helloUrl, ms }: Setting, trace: PublicTrace): Promise<Named[]> => {
  const other = await publicTrace(world, 0)
  const { text: html } = await world.call('GET', trace.path, undefined)
  const bare = () => firstBytes(helloUrl, `/${Buffer.byteLength(html)}`, {}, ms / 2)
  const before = await bare()
  await longestStep(world)
  const quiet = await writesDuring(world, other, setTimeout(ms / 2))
  const stepBefore = await longestStep(world)
  const { times: writes, result: made } = await writesDuring(
    world,
    other,
    firstBytes(world.url, trace.path, UNCACHED, ms),
  )
  const step = await longestStep(world)
  const cached = await firstBytes(world.url, trace.path, AS_BROWSERS, ms)
  const yardstick = [...before, ...(await bare())]
  return [
    ...firstByteRows('first byte', 120, made, yardstick),
    ...firstByteRows('cached', 15, cached, yardstick),
    {
      name: 'web-page writes (p99)',
      unit: 'ms',
      value: percentile(writes, 0.99),
      yardstick: percentile(quiet.times, 0.99),
    },
    { ...atMost('web-page longest step', 'ms', step, 10), yardstick: stepBefore },
  ]
}

const kilobytes = (content: string | Uint8Array) => gzipSync(content).length / 1_000

/** What is sent for the page, compressed. */
const sizes = async (world: World, { path }: PublicTrace): Promise<Named[]> => {
  const text = async (address: string) => (await fetch(`${world.url}${address}`)).text()
  const html = await text(path)
  const scripts = await readScripts()
  const ofScripts = (names: RegExp) =>
    scripts.filter(({ name }) => names.test(name)).reduce((sum, { content }) => sum + kilobytes(content), 0)
  return [
    atMost('web-page HTML', 'kB gzip', kilobytes(html), 40),
    atMost('web-page CSS', 'kB gzip', kilobytes(await text(/href="([^"]+\.css)"/.exec(html)![1]!)), 12),
    atMost('web-page script', 'kB gzip', ofScripts(/^(?:main|chunk)-/), 25),
    atMost('web-page scripts, long', 'kB gzip', ofScripts(/./), 40),
  ]
}

type Painted = { readonly first: number; readonly largest: number; readonly shift: number }

const LOADS = 3
/** Until nothing is painted any more. */
const SETTLED_MS = 1_000
/** 1.6 Mbit a second. */
const SLOW = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 200_000 }

const readPainted = `(() => {
  const entriesOf = (type) => {
    const observer = new PerformanceObserver(() => {})
    observer.observe({ type, buffered: true })
    return observer.takeRecords()
  }
  return {
    first: entriesOf('paint').find(({ name }) => name === 'first-contentful-paint').startTime,
    largest: entriesOf('largest-contentful-paint').at(-1).startTime,
    shift: entriesOf('layout-shift').reduce((sum, { value }) => sum + value, 0),
  }
})()`

/** What a reader with a slow machine sees over a slow network: the mean of some visits, in milliseconds, and by how much it shifts. */
const paintedOf = async (visit: Visit, address: string): Promise<Painted> => {
  const all: Painted[] = []
  for (let i = 0; i < LOADS; i++) {
    const look = async ({ page }: Visited) => {
      await setTimeout(SETTLED_MS)
      return page.evaluate<Painted>(readPainted)
    }
    const seen = await visit(address, look, async ({ devTools }) => {
      await devTools.send('Network.enable')
      await devTools.send('Network.emulateNetworkConditions', SLOW)
      await devTools.send('Emulation.setCPUThrottlingRate', { rate: 4 })
    })
    all.push(seen)
  }
  const of = (name: keyof Painted) => mean(all.map((one) => one[name]))
  return { first: of('first'), largest: of('largest'), shift: of('shift') }
}

const painting = (world: World, trace: PublicTrace) =>
  withBrowser('web-page', async (visit): Promise<Named[]> => {
    const { first, largest, shift } = await paintedOf(visit, world.url + trace.path)
    const long = await paintedOf(visit, world.url + (await publicTrace(world, LONG)).path)
    return [
      atMost('web-page first paint', 'ms', first, 1_000),
      atMost('web-page largest paint', 'ms', largest, 1_800),
      atMost('web-page shift', '', shift, 0.05),
      atMost('web-page first paint of 10,000', 'ms', long.first, 1_000),
      atMost('web-page shift of 10,000', '', long.shift, 0.05),
    ]
  })

/** The page of a public trace of 100 messages: how soon it comes, what making it costs others, its size, and how soon it is painted. */
export const webPage = async (setting: Setting): Promise<readonly Named[]> => {
  const trace = await publicTrace(setting.world, COUNT)
  return [
    ...(await serving(setting, trace)),
    ...(await sizes(setting.world, trace)),
    ...(await painting(setting.world, trace)),
  ]
}
