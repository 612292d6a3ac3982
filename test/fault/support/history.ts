import { ask } from './asking.ts'
import { type Cast, checkAll, checkRebuild } from './checks.ts'
import { type Fault, type Kind, faultsOf } from './faults.ts'
import { newWriter } from './load.ts'
import { newMoments } from './moments.ts'
import { newClerk, newTeam, signIn } from './people.ts'
import { type Random, newRandom } from './random.ts'
import { newSharedTrace } from './shared-trace.ts'
import { soon } from './soon.ts'
import type { World } from './world.ts'

const WRITERS = 6
const TEAMS = ['blue', 'green']

/** Starts clients of two teams, each of which has a shared trace. */
const cast = async (world: World, random: Random): Promise<Cast> => {
  const [service, moments] = [world.service(), world.pair?.moments ?? newMoments()]
  const people = await Promise.all(Array.from({ length: WRITERS }, (_, i) => signIn(service, `writer-${i}`)))
  const ofTeam = (t: number) => people.filter((_, i) => i % TEAMS.length === t)
  const teams = await Promise.all(TEAMS.map((slug, t) => newTeam(service, slug, ofTeam(t))))
  const shared = TEAMS.map((slug) => newSharedTrace(`shared-${slug}`, moments))
  for (const [t, { admin }] of teams.entries()) {
    const came = await ask(service, 'PUT', `/v1/traces/${shared[t]!.externalId}`, { token: admin.token, body: {} })
    if (came.is !== 'answered') throw new Error('no shared trace')
  }
  const guests = await Promise.all(TEAMS.map((slug) => signIn(service, `guest-${slug}`)))
  const own = () => newRandom(random.int(2 ** 31))
  return {
    teams,
    writers: people.map(({ token }, i) =>
      newWriter(`w${i}`, shared[i % TEAMS.length]!, { token, service: world.service, random: own(), moments }),
    ),
    clerks: teams.map((team, t) => newClerk({ service: world.service, moments }, team, guests[t]!, own())),
  }
}

const loopsOf = ({ writers, clerks }: Cast) => [...writers, ...clerks].map(({ loop }) => loop)

/** Waits until each client has done some more work. @throws the error of a client */
const busy = async (cast: Cast, more: number) => {
  const loops = loopsOf(cast)
  const goals = loops.map(({ turns }) => turns() + more)
  const areDone = () => loops.every(({ turns }, i) => turns() >= goals[i]!)
  await soon('not everybody gets on', () => loops.some(({ failure }) => failure()) || areDone())
  for (const { failure } of loops) if (failure()) throw failure()!
}

/** Causes one fault under load, and checks everything after the recovery. */
const round = async (world: World, cast: Cast, fault: Fault, random: Random) => {
  for (const { start } of loopsOf(cast)) start()
  await busy(cast, 2 + random.int(8))
  await fault(world, random)
  for (const service of world.services()) await soon(`${service.url} is not ready`, service.isReady)
  await busy(cast, 2 + random.int(4))
  for (const { stop } of loopsOf(cast)) await stop()
  await checkAll(world, cast)
}

/** The last log lines of each node, without lines that only name a refused request. */
const saying = (world: World): string =>
  world
    .services()
    .map(({ url, output }) => {
      const lines = output().split('\n')
      const telling = lines.filter((line) => !line.includes('request could not be served'))
      return [url, ...telling.slice(-20).map((line) => line.slice(0, 600))].join('\n')
    })
    .join('\n\n')

export type HistoryOptions = {
  readonly world: World
  readonly seed: number
  /** The names of the faults, in order. Default: the seed chooses them. */
  readonly faults?: readonly string[]
  /** The kinds from which they are chosen in turn. Default: all kinds of the world. */
  readonly kinds?: readonly Kind[]
  readonly rounds?: number
}

const chosen = (world: World, { kinds, rounds = 4 }: HistoryOptions, random: Random): string[] => {
  const known = faultsOf(world)
  const all = (Object.keys(known) as Kind[]).filter((kind) => Object.keys(known[kind]).length > 0)
  const from = (i: number) => (kinds ? kinds[i % kinds.length]! : random.pick(all))
  return Array.from({ length: rounds }, (_, i) => random.pick(Object.keys(known[from(i)])))
}

/**
 * Runs clients while faults happen, and checks everything after each fault. Returns the names of the faults.
 * @throws Error that says what was wrong
 */
export const checkHistory = async (options: HistoryOptions): Promise<readonly string[]> => {
  const { world, seed, faults } = options
  const random = newRandom(seed)
  const known: Readonly<Record<string, Fault>> = Object.assign({}, ...Object.values(faultsOf(world)))
  const names = faults ?? chosen(world, options, random)
  const told: string[] = []
  const people = await cast(world, random)
  try {
    for (const name of names) {
      told.push(name)
      await round(world, people, known[name]!, random)
    }
    await checkRebuild(world)
    return told
  } catch (error) {
    throw new Error(`${told.join(', then ')}: ${(error as Error).message}\n${saying(world)}`, { cause: error })
  } finally {
    await Promise.allSettled(loopsOf(people).map(({ stop }) => stop()))
  }
}
