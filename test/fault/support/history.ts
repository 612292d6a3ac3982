import { execFile } from 'node:child_process'
import { isDeepStrictEqual, promisify } from 'node:util'
import { openEventStoreLog } from '../../../src/log/eventstoredb/eventstoredb-log.ts'
import { openPostgresLog } from '../../../src/log/postgres/postgres-log.ts'
import { dumpSchema } from '../../support/compare.ts'
import { eventStoreUrlOf, logEnvironment } from '../../support/log-place.ts'
import { sweepAll } from '../../support/sweep.ts'
import { ask } from './asking.ts'
import { type Fault, faultsOf } from './faults.ts'
import { type Whole, type Writer, newWriter, readWhole } from './load.ts'
import { type Clerk, type Team, newClerk, newTeam, signIn } from './people.ts'
import { type Random, newRandom } from './random.ts'
import { until } from './service.ts'
import { newSharedTrace } from './shared-trace.ts'
import type { World } from './world.ts'

const main = new URL('../../../src/main.ts', import.meta.url).pathname
const WRITERS = 6
const TEAMS = ['blue', 'green']

type Cast = { readonly teams: readonly Team[]; readonly writers: readonly Writer[]; readonly clerks: readonly Clerk[] }

/** People in two teams, a shared trace in each, and everybody at work. */
const cast = async (world: World, random: Random): Promise<Cast> => {
  const service = world.service()
  const people = await Promise.all(Array.from({ length: WRITERS }, (_, i) => signIn(service, `writer-${i}`)))
  const ofTeam = (t: number) => people.filter((_, i) => i % TEAMS.length === t)
  const teams = await Promise.all(TEAMS.map((slug, t) => newTeam(service, slug, ofTeam(t))))
  const shared = TEAMS.map((slug) => newSharedTrace(`shared-${slug}`))
  for (const [t, { admin }] of teams.entries()) {
    const came = await ask(service, 'PUT', `/v1/traces/${shared[t]!.externalId}`, { token: admin.token, body: {} })
    if (came.is !== 'answered') throw new Error('no shared trace')
  }
  const guests = await Promise.all(TEAMS.map((slug) => signIn(service, `guest-${slug}`)))
  const own = () => newRandom(random.int(2 ** 31))
  return {
    teams,
    writers: people.map(({ token }, i) =>
      newWriter(`w${i}`, shared[i % TEAMS.length]!, { token, service: world.service, random: own() }),
    ),
    clerks: teams.map((team, t) => newClerk(world.service, team, guests[t]!, own())),
  }
}

type Listed = { externalId: string; visibility: string; messageCount: number }

/** Some seconds after a fault a read may still have to be asked again; one that never comes ends the test run. */
const read = async (world: World, path: string, token?: string): Promise<Record<string, unknown>> => {
  const came = await ask(world.service(), 'GET', path, { token })
  if (came.is === 'refused') return read(world, path, token)
  if (came.is !== 'answered' || came.status !== 200)
    throw new Error(`${path} when all is well: ${JSON.stringify(came)}`)
  return came.data as Record<string, unknown>
}

const assertSame = (seen: unknown, wanted: unknown, what: string) => {
  if (!isDeepStrictEqual(seen, wanted))
    throw new Error(`${what}: ${JSON.stringify(seen)}, not ${JSON.stringify(wanted)}`)
}

const wholeOf = async (world: World, token: string, externalId: string): Promise<Whole | 'gone'> =>
  (await readWhole(world.service(), token, externalId)) ?? wholeOf(world, token, externalId)

/** The traces of one team as their writers see them, each held against what was answered. */
const checkTeam = async (world: World, writers: readonly Writer[]): Promise<Listed[]> => {
  const there: Listed[] = []
  const note = (externalId: string, { trace }: Whole) =>
    there.push({ externalId, visibility: trace.visibility, messageCount: trace.messageCount! })
  const { shared, token } = writers[0]!
  const whole = await wholeOf(world, token, shared.externalId)
  if (whole === 'gone') throw new Error(`${shared.externalId} is gone`)
  shared.check(whole.trace, whole.messages)
  note(shared.externalId, whole)
  for (const { own, token } of writers) {
    const whole = await wholeOf(world, token, own.externalId)
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

/** While nobody writes: every list, count and detail says the same, and that is what was answered. */
const checkAll = async (world: World, { teams, writers, clerks }: Cast) => {
  const all: Listed[] = []
  for (const [t, { slug, admin }] of teams.entries()) {
    const there = await checkTeam(
      world,
      writers.filter((_, i) => i % TEAMS.length === t),
    )
    const listed = (await read(world, `/v1/namespaces/${slug}/traces`, admin.token)).traces
    assertSame(picked(listed), picked(there), `the traces of ${slug}`)
    all.push(...there)
  }
  for (const { look } of clerks) await look()
  const isPublic = ({ visibility }: Listed) => visibility === 'public'
  assertSame(picked((await read(world, '/v1/feed?limit=1000')).traces), picked(all.filter(isPublic)), 'the feed')
}

const headOf = async ({ dataDir }: World, url: string): Promise<bigint> => {
  const eventStoreUrl = eventStoreUrlOf(dataDir)
  const log = eventStoreUrl ? openEventStoreLog({ url: eventStoreUrl }) : openPostgresLog({ url })
  return log.head().finally(() => log.close())
}

/** The read models that serve are what a replay of the log makes, byte for byte. */
const checkRebuild = async (world: World): Promise<void> => {
  const [url, { databaseUrl }] = [world.database.url(), world.service()]
  const head = await headOf(world, url)
  await sweepAll(url)
  const live = await dumpSchema(url, 'rm_2')
  const env = { ...process.env, ...logEnvironment(world.dataDir), DATABASE_URL: databaseUrl, LOG_LEVEL: 'warn' }
  await promisify(execFile)(process.execPath, [main, 'rebuild'], { env })
  const rebuilt = await dumpSchema(url, 'rm_2')
  if ((await headOf(world, url)) !== head) return checkRebuild(world) // a summary has come in between
  for (const table of new Set([...Object.keys(live), ...Object.keys(rebuilt)])) {
    const [before, after] = [live[table] ?? [], rebuilt[table] ?? []]
    const only = (lines: string[], others: string[]) => lines.filter((line) => !others.includes(line))
    assertSame(only(before, after), only(after, before), `${table} that served, and rebuilt`)
    assertSame(before.length, after.length, `rows of ${table}`)
  }
}

const loopsOf = ({ writers, clerks }: Cast) => [...writers, ...clerks].map(({ loop }) => loop)

/** Waits until everybody has done some more. @throws what went wrong with one of them */
const busy = async (cast: Cast, more: number) => {
  const loops = loopsOf(cast)
  const goals = loops.map(({ turns }) => turns() + more)
  await until(() => loops.some(({ failure }) => failure()) || loops.every(({ turns }, i) => turns() >= goals[i]!))
  for (const { failure } of loops) if (failure()) throw failure()!
}

/** One fault under load, and a look at everything when all is well again. */
const round = async (world: World, cast: Cast, fault: Fault, random: Random) => {
  for (const { start } of loopsOf(cast)) start()
  await busy(cast, 2 + random.int(8))
  await fault(world, random)
  await until(() => world.service().isReady())
  await busy(cast, 2 + random.int(4))
  for (const { stop } of loopsOf(cast)) await stop()
  await checkAll(world, cast)
}

export type HistoryOptions = {
  readonly world: World
  readonly seed: number
  /** The names of the faults, one after the other; chosen by the seed when they are not given. */
  readonly faults?: readonly string[]
  readonly rounds?: number
}

/** Writers at work while things break, every history checked after each fault. @throws Error that says what was wrong */
export const checkHistory = async ({ world, seed, faults, rounds = 4 }: HistoryOptions): Promise<void> => {
  const random = newRandom(seed)
  const known = faultsOf(world)
  const names = faults ?? Array.from({ length: rounds }, () => random.pick(Object.keys(known)))
  const told: string[] = []
  const people = await cast(world, random)
  try {
    for (const name of names) {
      told.push(name)
      await round(world, people, known[name]!, random)
    }
    await checkRebuild(world)
  } catch (error) {
    const output = world.service().output().slice(-4_000)
    throw new Error(`seed ${seed}, ${told.join(', then ')}: ${(error as Error).message}\n${output}`, { cause: error })
  } finally {
    await Promise.allSettled(loopsOf(people).map(({ stop }) => stop()))
  }
}
