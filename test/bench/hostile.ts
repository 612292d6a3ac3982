import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { onServer } from '../support/database.ts'
import { openConnection, requestBytes } from './http.ts'
import { type Measure, type Named, percentile } from './measure.ts'
import { type World, openWorld } from './world.ts'

const MINUTE_MS = 60_000
const ATTACK_MS = 15_000
const CONTROL_MS = 4_000
const PAUSE_MS = 50

/** What others may notice at most: milliseconds, per cent, megabytes. */
const most = { health: 300, writes: 500, pushes: 500, served: 99, memory: 700 }

/** Milliseconds of each of these requests, one after another on one connection. One that is refused has taken for ever. */
const probe = async (world: World, over: AbortSignal, next: (i: number) => Buffer, done?: (i: number) => void) => {
  const times: number[] = []
  let connection = await openConnection(world.url)
  for (let i = 0; !over.aborted; i++) {
    const started = performance.now()
    const answer = await connection.send(next(i)).catch(() => undefined)
    times.push(answer?.status === 200 ? performance.now() - started : Number.POSITIVE_INFINITY)
    if (answer?.status === 200) done?.(i)
    if (!answer) connection = await openConnection(world.url)
    await setTimeout(PAUSE_MS)
  }
  connection.close()
  return times
}

/** The largest amount of memory that the service takes, in megabytes, until it is over. */
const highWater = async (world: World, over: AbortSignal): Promise<number> => {
  let most = 0
  while (!over.aborted) {
    most = Math.max(most, await world.memoryMb())
    await setTimeout(PAUSE_MS)
  }
  return most
}

/** How long it takes after a message was stored until a client hears of it. */
const newWatcher = async (world: World, trace: string, authToken: string) => {
  const socket = new WebSocket(`${world.url.replace('http', 'ws')}/v1/realtime`, { perMessageDeflate: false })
  await once(socket, 'open')
  const [stored, times] = [new Map<number, number>(), [] as number[]]
  socket.on('message', (data: Buffer) => {
    const { value } = JSON.parse(data.toString()) as { value?: { messageCount?: number } }
    for (const [count, at] of stored) {
      if (count > (value?.messageCount ?? 0)) continue
      times.push(performance.now() - at)
      stored.delete(count)
    }
  })
  socket.send(
    JSON.stringify({ type: 'subscribe', id: 's', query: 'traces:get', args: { externalId: trace, authToken } }),
  )
  return {
    stored: (count: number) => void stored.set(count, performance.now()),
    /** What was not heard of has taken until now. */
    end: () => {
      socket.terminate()
      for (const at of stored.values()) times.push(performance.now() - at)
      return times
    },
  }
}

type Seen = { readonly [Figure in keyof typeof most]: number }
type Person = Awaited<ReturnType<World['signIn']>>

const MB = 1_000_000
const upload = (i: number) =>
  JSON.stringify({ messages: [{ externalId: `m${i % 5}`, role: 'user', textContent: `${i} `.repeat(MB / 8) }] })

let traces = 0

/** What other people notice until it is over: one who writes and watches, one who uploads, one who reads, and a monitor. */
const watchOthers = async (world: World, { authorization }: Person, over: AbortSignal): Promise<Seen> => {
  const trace = `watched${traces++}`
  await world.call('PUT', `/v1/traces/${trace}`, authorization, {})
  const watcher = await newWatcher(world, trace, authorization.slice('Bearer '.length))
  const message = '{"role":"user","textContent":"hello"}'
  const [health, writes, uploads, reads, memory] = await Promise.all([
    probe(world, over, () => requestBytes('GET', '/health', {})),
    probe(
      world,
      over,
      (i) => requestBytes('PUT', `/v1/traces/${trace}/messages/m${i}`, { authorization }, message),
      (i) => watcher.stored(i + 1),
    ),
    probe(world, over, (i) => requestBytes('POST', '/v1/traces/mine/messages/batch', { authorization }, upload(i))),
    probe(world, over, () => requestBytes('GET', '/v1/traces/read/messages?includeParts=true', { authorization })),
    highWater(world, over),
  ])
  const asked = [...uploads, ...reads]
  const served = asked.filter((ms) => ms !== Number.POSITIVE_INFINITY).length
  return {
    health: percentile(health, 0.99),
    writes: percentile(writes, 0.99),
    pushes: percentile(watcher.end(), 0.99),
    served: (100 * served) / asked.length,
    memory,
  }
}

const rowsOf = (name: string, seen: Seen, control: Seen): Named[] => [
  { name: `${name}: health`, unit: 'ms (p99)', value: seen.health, yardstick: most.health },
  { name: `${name}: writes`, unit: 'ms (p99)', value: seen.writes, yardstick: most.writes },
  { name: `${name}: pushes`, unit: 'ms (p99)', value: seen.pushes, yardstick: most.pushes },
  { name: `${name}: pushes before`, unit: 'ms (p99)', value: control.pushes, yardstick: most.pushes },
  { name: `${name}: served`, unit: '%', value: seen.served, yardstick: most.served },
  { name: `${name}: memory`, unit: 'MB', value: seen.memory, yardstick: most.memory },
]

/** Measures what others notice of an attack, and, a moment before, without it. */
const underAttack = async (world: World, name: string, ms: number) => {
  const person = await world.signIn(`somebody else, ${name}`)
  for (const trace of ['mine', 'read']) await world.call('PUT', `/v1/traces/${trace}`, person.authorization, {})
  await world.call('POST', '/v1/traces/read/messages/batch', person.authorization, JSON.parse(upload(100)) as object)
  const attackers = fork(new URL('hostile-clients.ts', import.meta.url), [world.url, name, `${ms}`])
  const ended = once(attackers, 'exit').then(([code]) => {
    throw new Error(`the hostile clients have ended: ${code}`)
  })
  ended.catch(() => {}) // as they do in the end
  await Promise.race([once(attackers, 'message'), ended])
  const control = await watchOthers(world, person, AbortSignal.timeout(CONTROL_MS))
  const over = new AbortController()
  const watching = watchOthers(world, person, over.signal)
  const told = once(attackers, 'message') as Promise<[{ accepted: number }]>
  attackers.send('begin')
  const [{ accepted }] = await Promise.race([told, ended, watching.then(() => ended)])
  over.abort()
  return { accepted, rows: rowsOf(`hostile ${name}`, await watching, control) }
}

const diskBytes = async (world: World): Promise<number> =>
  Number((await onServer(world.databaseUrl, 'select pg_database_size(current_database()) as size')).rows[0]!.size)

/** Runs work on a service with the limits that it has by default. */
const onService = async <T>(work: (world: World) => Promise<T>, mostDescriptors?: number): Promise<T> => {
  const world = await openWorld('', { RATE_LIMITS: 'on', SUMMARY_DEBOUNCE_MS: '100' }, mostDescriptors)
  try {
    return await work(world)
  } finally {
    await world.close()
  }
}

const bodies = async (): Promise<readonly Named[]> =>
  onService(async (world) => {
    const before = await diskBytes(world)
    const { accepted, rows } = await underAttack(world, 'bodies', MINUTE_MS)
    const grown = (await diskBytes(world)) - before
    return [...rows, { name: 'hostile bodies: disk', unit: 'kB', value: grown / 1_000, yardstick: accepted / 1_000 }]
  })

const attack = (name: string, mostDescriptors?: number): Measure => ({
  name: `hostile-minute:${name}`,
  unit: '',
  measure: async () => (await onService((world) => underAttack(world, name, ATTACK_MS), mostDescriptors)).rows,
})

/**
 * What other people notice while clients of one net attack the service: with the worst bodies for a minute, and for some seconds in other
 * ways, each on a service of its own. The yardsticks are what must not be exceeded (of what is served: fallen below); disk is what
 * the database grew by, for each byte accepted.
 */
export const hostileMinute: readonly Measure[] = [
  { name: 'hostile-minute:bodies', unit: '', measure: bodies },
  ...['upserts', 'pages', 'uploads', 'readers', 'sockets'].map((name) => attack(name)),
  attack('idle', 1_500),
]
