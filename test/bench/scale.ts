import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { mainGroup, groups } from '../../projections/index.ts'
import { traceId } from '../../src/base/ids.ts'
import { newCodec } from '../../src/eventstore/engine/codec.ts'
import { rebuild } from '../../src/eventstore/engine/rebuild.ts'
import { formats } from '../../src/server/events.ts'
import type { EventLog } from '../../src/eventstore/log/log.ts'
import { openPostgresLog } from '../../src/eventstore/log/postgres/postgres-log.ts'
import { wholeAppends } from '../../src/eventstore/log/whole-appends.ts'
import { onServer } from '../support/database.ts'
import { type Connection, openConnection, requestBytes } from './http.ts'
import { type Measure, type Named, atMost, metadata, percentile, timesOf } from './measure.ts'
import { wordAt, wordyMessages } from './search-corpus.ts'
import { allCaughtUp, caughtUp } from './timeline-lag.ts'
import { type World, main } from './world.ts'

/*
 * A service with many traces of ten messages each: they are appended to the log, as the service would, which then builds what it reads.
 * Users, one after the other, have 200 traces; the first one has 1,000. One in ten is public.
 */

const MESSAGES = 10
const TRACES_OF_FIRST = 1_000
const TRACES_OF_OTHERS = 200
/** What the figures of a large service stand beside. */
const SMALL = 10_000
const AT_ONCE = 64
const REQUESTS = 200
/** What takes no longer may take more than three times as long. */
const SHORT_MS = 10

type User = Awaited<ReturnType<World['signIn']>>

const say = (text: string) => void process.stderr.write(`${text}\n`)

const COUNTED = {
  messageCount: MESSAGES,
  messageTypeCounts: { user_message: 0, agent_context: 0, agent_text: MESSAGES, agent_thinking: 0, tool_call: 0 },
  toolTypeCounts: {},
}

/** The append of a trace: its creation and its messages. */
const traceEvents = ({ namespaceId, userId }: User, externalId: string, number: number) => {
  const trace = {
    ...{ externalId, namespaceId, createdBy: userId, agentId: 'claude-code', title: `Session ${number}` },
    visibility: number % 10 === 0 ? 'public' : 'private',
  }
  const added = wordyMessages(MESSAGES, 0, number).map((message, ordinal) => {
    const { externalId, parts, ...rest } = message as { externalId: string; parts: unknown[] }
    const counted = { class: 'agent_text', tools: [], digest: 'x'.repeat(22) }
    return { type: 'MessageAdded', data: JSON.stringify({ externalId, ordinal, ...rest, ...counted, parts }) }
  })
  const [append, counted] = [randomUUIDv7(), JSON.stringify(COUNTED)]
  const events = [
    { type: 'TraceCreated', data: JSON.stringify(trace) },
    ...added,
    { type: 'MessagesCounted', data: counted },
  ]
  return events.map((event, i) => ({
    ...{ id: randomUUIDv7(), ...event },
    metadata: metadata(i, events.length, append, formats[event.type]!.version),
  }))
}

const nameOf = (number: number) => `session-${number}`

/** Fills a service up to so many traces, and gives how many of which user there are. */
const newFiller = (world: World, log: EventLog) => {
  const users: User[] = []
  let count = 0
  let ofUser = Infinity

  const next = async () => {
    if (ofUser >= (users.length === 1 ? TRACES_OF_FIRST : TRACES_OF_OTHERS)) {
      users.push(await world.signIn(`scale-${users.length}`))
      ofUser = 0
    }
    ofUser++
    return { user: users.at(-1)!, number: count++ }
  }

  return async (traces: number): Promise<readonly User[]> => {
    const [started, before] = [performance.now(), count]
    let told = started
    while (count < traces) {
      const some = []
      while (some.length < AT_ONCE && count < traces) some.push(await next())
      await Promise.all(
        some.map(({ user, number }) => {
          const name = nameOf(number)
          return log.append(`trace-${traceId(user.namespaceId, name)}`, 'none', traceEvents(user, name, number))
        }),
      )
      if (performance.now() - told < 5_000) continue
      told = performance.now()
      const left = ((told - started) * (traces - count)) / (count - before) / 1_000
      say(
        `${count.toLocaleString('en')} of ${traces.toLocaleString('en')} traces; ${Math.round(left)} s left to append`,
      )
    }
    for (const group of groups) {
      await caughtUp(world, group)
      say(`the read models ${group.name} have them after ${Math.round((performance.now() - started) / 1_000)} s`)
    }
    return users
  }
}

/** A request to a place that is another one each time. */
type Ask = (random: number) => { method?: string; path: string; user?: User; body?: object }

const requestsOf = (users: readonly User[]): Readonly<Record<string, Ask>> => {
  const first = users[0]!
  const someUser = (random: number) => users[Math.floor(random * users.length)]!
  /** A trace of the first user. */
  const own = (random: number) => `/v1/traces/${nameOf(Math.floor(random * TRACES_OF_FIRST))}`
  const get =
    (path: string | ((random: number) => string), user: User | undefined = first): Ask =>
    (random) => ({ path: typeof path === 'string' ? path : path(random), ...(user && { user }) })
  return {
    feed: () => ({ path: '/v1/feed' }),
    'feed, signed in': (random) => ({ path: '/v1/feed', user: someUser(random) }),
    traces: get('/v1/traces'),
    'traces of a namespace': (random) => ({ path: `/v1/namespaces/${someUser(random).slug}/traces`, user: first }),
    trace: get(own),
    children: get((random) => `${own(random)}/children`),
    messages: get((random) => `${own(random)}/messages?limit=50`),
    matches: get((random) => `${own(random)}/messages/matches?q=const`),
    'events of a trace': get((random) => `${own(random)}/events`),
    'events of a namespace': get(`/v1/namespaces/${first.slug}/events`),
    'as it was': get((random) => `${own(random)}/messages?revision=5`),
    proof: get((random) => `${own(random)}/events/3/proof`),
    export: get((random) => `${own(random)}/export?format=json`),
    members: get(`/v1/namespaces/${first.slug}/members`),
    sessions: get('/v1/sessions'),
    'search, frequent': get(`/v1/search?q=${wordAt(3)}`),
    'search, rare': get((random) => `/v1/search?q=${encodeURIComponent(wordAt(20_000 + Math.floor(random * 15_000)))}`),
    query: (random) => ({
      ...{ method: 'POST', path: '/v1/query', user: first },
      body: { query: 'traces:get', args: { externalId: nameOf(Math.floor(random * TRACES_OF_FIRST)) } },
    }),
    'page of a session': get((random) => `/@${first.slug}/${nameOf(Math.floor(random * TRACES_OF_FIRST))}`),
    'page of a namespace': (random) => ({ path: `/@${someUser(random).slug}`, user: first }),
    'first page': get('/'),
    'write: message': (random) => ({
      ...{ method: 'PUT', path: `${own(random)}/messages/m-${randomUUID()}`, user: first },
      body: { role: 'user', textContent: 'and another one' },
    }),
    'write: trace': () => ({ method: 'PUT', path: `/v1/traces/${randomUUID()}`, user: first, body: { title: 'New' } }),
    'write: batch': (random) => ({
      ...{ method: 'POST', path: `${own(random)}/messages/batch`, user: first },
      body: { messages: wordyMessages(50, Math.floor(random * 1e6)) },
    }),
    'sign-in': () => ({ method: 'POST', path: '/v1/session', body: { deviceId: randomUUID() } }),
  }
}

type Latencies = Readonly<Record<string, readonly number[]>>

/** Milliseconds of so many requests of a kind, one after the other. */
const askTimes = (connection: Connection, ask: Ask, count: number): Promise<number[]> => {
  const send = async () => {
    const { method = 'GET', path, user, body } = ask(Math.random())
    const headers = {
      accept: path.startsWith('/v1') ? '*/*' : 'text/html',
      ...(user && { authorization: user.authorization }),
    }
    const answer = await connection.send(requestBytes(method, path, headers, body && JSON.stringify(body)))
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`)
  }
  return timesOf(0, send, count)
}

/** The times of requests of each kind, after as many that are not counted: code is compiled and pages of the database are read by then. */
const latenciesOf = async (world: World, users: readonly User[]): Promise<Latencies> => {
  const connection = await openConnection(world.url)
  const found: Record<string, number[]> = {}
  for (const round of ['warm', 'counted'])
    for (const [name, ask] of Object.entries(requestsOf(users))) {
      const times = await askTimes(connection, ask, REQUESTS)
      if (round === 'counted') found[name] = times
    }
  connection.close()
  return found
}

/** PostgreSQL counts what a connection has done at the end of its next statement after so long. */
const COUNTED_MS = 1_100
/** If there is no next statement, it is counted after so long. */
const IDLE_MS = 11_000
/** Fewer rows than this are read one after the other at no cost. */
const FEW_ROWS = 1_000

/** How often each index was used, and how many rows of each table were read without one; those of the parts of a table together. */
const scansOf = async ({ databaseUrl }: World): Promise<ReadonlyMap<string, number>> => {
  const { rows } = await onServer(
    databaseUrl,
    `select indexrelname as name, idx_scan::float8 as count from pg_stat_user_indexes
     union all select 'seq scan on ' || relname, seq_tup_read::float8 / ${FEW_ROWS} from pg_stat_user_tables`,
  )
  const scans = new Map<string, number>()
  for (const { name, count } of rows) {
    const whole = String(name).replace(/_\d+/, '')
    scans.set(whole, (scans.get(whole) ?? 0) + Number(count))
  }
  return scans
}

/**
 * Says by which indexes the statements of each kind of read find their rows, and how often a request does so; and which tables they read as a whole, and how many
 * thousand rows of them.
 */
const sayPlans = async (world: World, users: readonly User[]): Promise<void> => {
  await allCaughtUp(world)
  await setTimeout(IDLE_MS) // what was written before has been counted
  const connection = await openConnection(world.url)
  const reads = Object.entries(requestsOf(users)).filter(([name]) => !/^(write|sign-in)/.test(name))
  for (const [name, ask] of reads) {
    const before = await scansOf(world)
    await askTimes(connection, ask, REQUESTS)
    await setTimeout(COUNTED_MS)
    await askTimes(connection, ask, 1)
    const used = [...(await scansOf(world))]
      .map(([scan, count]) => [scan, (count - (before.get(scan) ?? 0)) / REQUESTS] as const)
      .filter(([, each]) => each >= 0.5)
    say(`${name}: ${used.map(([scan, each]) => `${scan} ${Math.round(each)}`).join(', ') || 'from memory'}`)
  }
  connection.close()
}

/** Seconds until another node of the same service is ready. */
const startOf = async ({ databaseUrl }: World): Promise<number> => {
  const started = performance.now()
  const env = {
    ...process.env,
    DATABASE_URL: databaseUrl,
    EVENTSTORE_URL: '',
    PORT: '0',
    ROLES: 'api',
    LOG_LEVEL: 'error',
  }
  const child = spawn(process.execPath, [main, 'serve'], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  await once(child.stderr, 'data') // it says its address
  const seconds = (performance.now() - started) / 1_000
  say(`another node is ready after ${seconds.toFixed(1)} s`)
  child.kill('SIGTERM')
  await once(child, 'exit')
  return seconds
}

const diskGb = async ({ databaseUrl }: World): Promise<number> =>
  Number((await onServer(databaseUrl, 'select pg_database_size(current_database()) as bytes')).rows[0]!.bytes) / 1e9

const rebuilt = async ({ databaseUrl: url }: World, log: EventLog): Promise<number> => {
  const started = performance.now()
  say('building the main read models anew')
  await rebuild({ url, group: mainGroup, log, codec: newCodec(formats) })
  return (performance.now() - started) / 1_000
}

/**
 * What each route takes with so many traces, beside what it takes with 10,000: the p95, which may be three times as much. In brackets are the
 * p50 and the p99.
 */
export const scale = (traces: number): Measure => ({
  name: 'scale',
  unit: '',
  measure: async ({ world }): Promise<readonly Named[]> => {
    const log = wholeAppends(openPostgresLog({ url: world.databaseUrl }))
    const fill = newFiller(world, log)
    const users = await fill(Math.min(SMALL, traces))
    const small = await latenciesOf(world, users)
    const all = await fill(traces)
    const large = await latenciesOf(world, all)
    await sayPlans(world, all)
    const figures = Object.entries(large).map(([name, times]): Named => {
      const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(times, share))
      const before = percentile(small[name]!, 0.95)
      const text = `${name} (${p50!.toFixed(1)}, ${p99!.toFixed(1)})`
      return { name: text.padEnd(40), unit: 'ms', value: p95!, yardstick: before, most: Math.max(before * 3, SHORT_MS) }
    })
    const whole = { memory: await world.memoryMb(), disk: await diskGb(world), start: await startOf(world) }
    const seconds = await rebuilt(world, log)
    await log.close()
    return [
      ...figures,
      atMost('start of another node', 's', whole.start, 10),
      atMost('memory of the service', 'MB', whole.memory, 700),
      { name: 'disk, 1.5 KB a message', unit: 'GB', value: whole.disk, yardstick: (traces * MESSAGES * 1_500) / 1e9 },
      { name: 'rebuild', unit: 's', value: seconds, yardstick: (traces * (MESSAGES + 1)) / 10_000 },
    ]
  },
})
