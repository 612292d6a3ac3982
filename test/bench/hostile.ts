import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { onServer } from '../support/database.ts'
import { openConnection, requestBytes } from './http.ts'
import type { Named } from './measure.ts'
import { type World, openWorld } from './world.ts'

const CLIENTS = 24
const MINUTE_MS = 60_000
const PAUSE_MS = 50

const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? 0

/**
 * Milliseconds of each of these requests, one after another on one connection, until it is over. One that is refused has
 * taken for ever.
 */
const probe = async (world: World, over: AbortSignal, next: (i: number) => Buffer): Promise<number[]> => {
  const times: number[] = []
  const connection = await openConnection(world.url)
  for (let i = 0; !over.aborted; i++) {
    const started = performance.now()
    const { status } = await connection.send(next(i))
    times.push(status === 200 ? performance.now() - started : Number.POSITIVE_INFINITY)
    await setTimeout(PAUSE_MS)
  }
  connection.close()
  return times
}

const diskBytes = async (world: World): Promise<number> =>
  Number((await onServer(world.databaseUrl, 'select pg_database_size(current_database()) as size')).rows[0]!.size)

/** The largest amount of memory that the service takes, in megabytes, until it is over. */
const highWater = async (world: World, over: AbortSignal): Promise<number> => {
  let most = 0
  while (!over.aborted) {
    most = Math.max(most, await world.memoryMb())
    await setTimeout(PAUSE_MS)
  }
  return most
}

/**
 * What other people notice while 24 clients send the worst bodies for a minute, with the limits that a service has by
 * default. The yardsticks are what must not be exceeded; disk is what the database grew by, for each byte accepted.
 */
export const hostileMinute = async (): Promise<readonly Named[]> => {
  const world = await openWorld('', { RATE_LIMITS: 'on', SUMMARY_DEBOUNCE_MS: '100' })
  try {
    const { authorization } = await world.signIn('the device of somebody else')
    await world.call('PUT', '/v1/traces/mine', authorization, {})
    const before = await diskBytes(world)
    const over = new AbortController()
    const attackers = fork(new URL('hostile-clients.ts', import.meta.url), [world.url, `${CLIENTS}`, `${MINUTE_MS}`])
    const told = once(attackers, 'message') as Promise<[{ accepted: number }]>
    const ended = once(attackers, 'exit').then(([code]) => {
      throw new Error(`the hostile clients have ended: ${code}`)
    })
    ended.catch(() => {}) // as they do in the end
    const probing = Promise.all([
      probe(world, over.signal, () => requestBytes('GET', '/health', {})),
      probe(world, over.signal, (i) =>
        requestBytes(
          'PUT',
          `/v1/traces/mine/messages/m${i}`,
          { authorization },
          '{"role":"user","textContent":"hello"}',
        ),
      ),
      highWater(world, over.signal),
    ])
    const [{ accepted }] = await Promise.race([told, ended, probing.then(() => ended)])
    over.abort()
    const [health, writes, memory] = await probing
    const grown = (await diskBytes(world)) - before
    return [
      { name: 'hostile-minute health', unit: 'ms (p99)', value: percentile(health, 0.99), yardstick: 100 },
      { name: 'hostile-minute writes', unit: 'ms (p99)', value: percentile(writes, 0.99), yardstick: 1_000 },
      { name: 'hostile-minute memory', unit: 'MB', value: memory, yardstick: 700 },
      { name: 'hostile-minute disk', unit: 'kB', value: grown / 1_000, yardstick: accepted / 1_000 },
    ]
  } finally {
    await world.close()
  }
}
