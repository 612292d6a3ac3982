import { isDeepStrictEqual } from 'node:util'
import { readCheckpoint } from '../../../src/eventstore/engine/checkpoint.ts'
import { openEventStoreLog } from '../../../src/eventstore/log/eventstoredb/eventstoredb-log.ts'
import { openPostgresLog } from '../../../src/eventstore/log/postgres/postgres-log.ts'
import { newClient } from '../../../src/eventstore/postgres/connect.ts'
import { dumpSchema } from '../../support/dump-schema.ts'
import { sweepAll } from '../../support/sweep.ts'
import { ask } from './asking.ts'
import { type Whole, type Writer, readWhole } from './load.ts'
import { schema } from './nodes.ts'
import type { Clerk, Team } from './people.ts'
import { rebuildNow } from './rebuilding.ts'
import type { Service } from './service.ts'
import { soon } from './soon.ts'
import type { World } from './world.ts'
import { written } from './written.ts'

/** The clients of a history. A writer is a member of the team whose shared trace it writes to. */
export type Cast = {
  readonly teams: readonly Team[]
  readonly writers: readonly Writer[]
  readonly clerks: readonly Clerk[]
}

type Listed = { externalId: string; visibility: string; messageCount: number }

/** For some seconds after a fault reads may fail, and are repeated. */
const read = async (service: Service, path: string, token?: string): Promise<Record<string, unknown>> => {
  let data: unknown
  await soon(`GET ${path} is not answered`, async () => {
    const came = await ask(service, 'GET', path, { token })
    if (came.is === 'refused') return false
    if (came.is !== 'answered' || came.status !== 200)
      throw new Error(`${path} when all is well: ${JSON.stringify(came)}`)
    data = came.data
    return true
  })
  return data as Record<string, unknown>
}

const assertSame = (seen: unknown, wanted: unknown, what: string) => {
  if (!isDeepStrictEqual(seen, wanted))
    throw new Error(`${what}: ${JSON.stringify(seen)}, not ${JSON.stringify(wanted)}`)
}

const wholeOf = async (service: Service, token: string, externalId: string): Promise<Whole | 'gone'> => {
  let whole: Whole | 'gone' | undefined
  await soon(`${externalId} cannot be read`, async () => {
    whole = await readWhole(service, token, externalId)
    return whole !== undefined
  })
  return whole!
}

/** Reads the traces of one team as their writers, and compares each with the answers to its writes. */
const checkTeam = async (service: Service, writers: readonly Writer[]): Promise<Listed[]> => {
  const there: Listed[] = []
  const note = (externalId: string, { trace }: Whole) =>
    there.push({ externalId, visibility: trace.visibility, messageCount: trace.messageCount! })
  const { shared, token } = writers[0]!
  const whole = await wholeOf(service, token, shared.externalId)
  if (whole === 'gone') throw new Error(`${shared.externalId} is gone`)
  shared.check(whole.trace, whole.messages)
  note(shared.externalId, whole)
  for (const { own, token } of writers) {
    const whole = await wholeOf(service, token, own.externalId)
    if (whole === 'gone') own.gone()
    else {
      own.check(whole.trace.visibility, whole.messages)
      note(own.externalId, whole)
    }
  }
  return there
}

const picked = (list: unknown): Listed[] =>
  (list as Listed[])
    .map(({ externalId, visibility, messageCount }) => ({ externalId, visibility, messageCount }))
    .sort((a, b) => (a.externalId < b.externalId ? -1 : 1))

/** While nobody writes: asserts that all lists, counts and details of a node agree with each other and with the answers. */
const checkNode = async (service: Service, { teams, writers, clerks }: Cast) => {
  const all: Listed[] = []
  await written(service, 'when all is well') // from then on it shows all that is stored
  for (const [t, { slug, admin }] of teams.entries()) {
    const there = await checkTeam(
      service,
      writers.filter((_, i) => i % teams.length === t),
    )
    const listed = (await read(service, `/v1/namespaces/${slug}/traces`, admin.token)).traces
    assertSame(picked(listed), picked(there), `the traces of ${slug}`)
    all.push(...there)
  }
  for (const { look } of clerks) await look(service)
  const isPublic = ({ visibility }: Listed) => visibility === 'public'
  assertSame(picked((await read(service, '/v1/feed?limit=1000')).traces), picked(all.filter(isPublic)), 'the feed')
}

/** Asserts that no stream is in quarantine. */
const checkQuarantine = async ({ url }: Service) => {
  const { degraded = [] } = (await (await fetch(`${url}/health/ready`)).json()) as { degraded?: string[] }
  const streams = degraded.filter((reason) => reason.includes('quarantine'))
  if (streams.length > 0) throw new Error(streams.join('; '))
}

/** Checks each node while nobody writes. @throws Error that says what is wrong */
export const checkAll = async (world: World, cast: Cast): Promise<void> => {
  for (const service of world.services()) {
    await checkNode(service, cast)
    await checkQuarantine(service)
  }
}

const headOf = async (world: World): Promise<bigint> => {
  const { DATABASE_URL: url, EVENTSTORE_URL: eventStoreUrl } = world.environment()
  const log = eventStoreUrl ? openEventStoreLog({ url: eventStoreUrl }) : openPostgresLog({ url })
  return log.head().finally(() => log.close())
}

const positionIn = async (url: string): Promise<bigint> => {
  const client = newClient(url, 'checkpoint')
  await client.connect()
  try {
    return (await readCheckpoint(client, schema)).position
  } finally {
    await client.end()
  }
}

/** Asserts that the read models in use equal a replay of the log, byte by byte. */
export const checkRebuild = async (world: World): Promise<void> => {
  const url = world.database.url()
  const head = await headOf(world)
  await soon('the read models do not come to the end of the log', async () => (await positionIn(url)) >= head)
  await sweepAll(url)
  const live = await dumpSchema(url, schema)
  await rebuildNow(world)
  const rebuilt = await dumpSchema(url, schema)
  if ((await headOf(world)) !== head) return checkRebuild(world) // a summary has come in between
  for (const table of new Set([...Object.keys(live), ...Object.keys(rebuilt)])) {
    const [before, after] = [live[table] ?? [], rebuilt[table] ?? []]
    const only = (lines: string[], others: string[]) => lines.filter((line) => !others.includes(line))
    assertSame(only(before, after), only(after, before), `${table} that served, and rebuilt`)
    assertSame(before.length, after.length, `rows of ${table}`)
  }
}
