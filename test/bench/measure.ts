import { randomUUID } from 'node:crypto'
import { migrate } from '../../src/eventstore/postgres/migrate.ts'
import { databaseUrl, dropDatabase, onServer } from '../support/database.ts'
import { messages } from './corpus.ts'
import type { World } from './world.ts'

/** A line of the table. */
export type Row = Named & { ratio: number }
/** What is measured: the service, a bare HTTP server beside it, for how long, and where it matters among how many messages or facts. */
export type Setting = {
  readonly world: World
  readonly helloUrl: string
  readonly helloPid: number
  readonly ms: number
  readonly messages?: number
  readonly facts?: number
}
/** A figure, and that of what it stands beside. */
export type Measured = { value: number; yardstick: number }
/** Several figures of one run, each a row of its own; `most` is what one may come to. */
export type Named = Measured & { name: string; unit: string; most?: number }
/** How one or several rows are measured. */
export type Measure = { name: string; unit: string; measure(setting: Setting): Promise<Measured | readonly Named[]> }

/** Bodies as the bare tables get them: the same messages as JSON text. */
export const bodies = messages(200).map((message) => JSON.stringify(message))

/** The figure that so large a share of the others is below; infinite if there are none. */
export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Infinity

/** A figure that stands beside nothing but its limit. */
export const atMost = (name: string, unit: string, value: number, most: number): Named => ({
  ...{ name, unit, value, most },
  yardstick: most,
})

/** The mean of several figures. */
export const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

/** Milliseconds that a client waits for each of these, one after the other: for `ms`, and for at least so many. */
export const timesOf = async (ms: number, work: (i: number) => Promise<unknown>, least = 1): Promise<number[]> => {
  const [until, times]: [number, number[]] = [performance.now() + ms, []]
  while (performance.now() < until || times.length < least) {
    const started = performance.now()
    await work(times.length)
    times.push(performance.now() - started)
  }
  return times
}

/** Both in turns, so often: the mean of each. */
export const inTurns = async (
  rounds: number,
  yardstick: (round: number) => Promise<number>,
  work: (round: number) => Promise<number>,
): Promise<Measured> => {
  const [values, yardsticks]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    yardsticks.push(await yardstick(round))
    values.push(await work(round))
  }
  return { value: mean(values), yardstick: mean(yardsticks) }
}

/** The yardstick before and after, so that a machine that slows down does not count for either. */
export const between = async (yardstick: () => Promise<number>, work: () => Promise<number>): Promise<Measured> => {
  const before = await yardstick()
  const value = await work()
  return { value, yardstick: (before + (await yardstick())) / 2 }
}

/** Gives the work a migrated database of its own. */
export const withDatabase = async <T>(server: string, work: (url: string) => Promise<T>): Promise<T> => {
  const name = `bench_${randomUUID().slice(0, 8)}`
  await onServer(server, `create database "${name}"`)
  const url = databaseUrl(server, name)
  try {
    await migrate(url)
    return await work(url)
  } finally {
    await dropDatabase(server, name)
  }
}

/** Metadata of an event as the service writes it; `schema` is the version of its data. */
export const metadata = (index: number, size: number, id: string, schema = 1) =>
  JSON.stringify({
    at: Date.now(),
    actor: { userId: randomUUID(), sessionId: randomUUID() },
    requestId: randomUUID(),
    schema,
    append: { id, index, size },
  })
