import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder } from '../eventstore/embedded/support.ts'
import { onServer } from '../support/database.ts'
import { eventStoreUrlOf, logEnvironment } from '../support/log-place.ts'
import { until } from '../support/until.ts'
import { isDue, placesOf, quarantined } from './support/erased.ts'
import { newRandom } from './support/random.ts'
import { rebuildNow } from './support/rebuilding.ts'
import { type Service, serveOn } from './support/service.ts'

const test = suite('fault/erased-past')

const random = newRandom(Number(process.env.FAULT_SEED ?? '3'))
/** The number of messages of two MB each, of which an append holds four. */
const LARGE = 6
const MESSAGE = 'kept '.repeat(400_000)
const secretOf = (round: number) => `Schroedinger's dog number ${round}`

const send = async (service: Service, method: string, path: string, token: string, body: object) => {
  const { status, data } = await service.call(method, path, { token, body })
  assert.is(status, 200)
  return data as { trace: { id: string } }
}

/** A trace larger than an append that has said a secret, and says it no more; gives its id. */
const live = async (service: Service, token: string, round: number): Promise<string> => {
  const path = `/v1/traces/t${round}`
  const { trace } = await send(service, 'PUT', path, token, { title: secretOf(round) })
  const say = (i: number, textContent: string) =>
    send(service, 'POST', `${path}/messages/batch`, token, {
      messages: [{ externalId: `m${i}`, role: 'user', timestamp: i, textContent }],
    })
  for (let i = 0; i < LARGE; i++) await say(i, secretOf(round))
  for (let i = 0; i < LARGE; i++) await say(i, `${MESSAGE}${i}`)
  await send(service, 'PATCH', path, token, { title: 'kept' })
  return trace.id
}

const shown = async (service: Service, token: string, round: number) => {
  const path = `/v1/traces/t${round}`
  const { data } = await service.call('GET', path, { token })
  const {
    ai_title: _,
    ai_summary: _s,
    summaryMessageCount: _c,
    ...trace
  } = (data as { trace: Record<string, unknown> }).trace
  const { messages } = (await service.call('GET', `${path}/messages`, { token })).data as { messages: unknown[] }
  return [trace, messages]
}

const count = async ({ databaseUrl }: Service, id: string) => {
  const text = 'select count(*)::int4 as n from log.events where stream = $1'
  return (await onServer(databaseUrl, text, [`trace-${id}`])).rows[0]!.n as number
}

/** The moments at which the service is killed, each as soon as it shows in the database. */
const moments: readonly ((service: Service, id: string) => Promise<unknown>)[] = [
  // Some messages are restated.
  async (service, id) => {
    const before = await count(service, id)
    await until(async () => (await count(service, id)) > before)
  },
  // The event is in the log, and read for the erasure.
  (service) => until(() => isDue(service)),
  // The log is being truncated, or has been.
  async (service, id) => {
    let most = 0
    await until(async () => {
      const now = await count(service, id)
      most = Math.max(most, now)
      return now < most
    })
  },
]

test('wherever the service is killed, the trace is shown as it was, and its past is soon nowhere once that was asked for', () =>
  inFolder(async (dataDir) => {
    let service = await serveOn(dataDir, { SUMMARY_PROVIDER: 'none' })
    const environment = () => ({ DATABASE_URL: service.databaseUrl, ...logEnvironment(dataDir) })
    const token = await service.signIn('device')
    const inPostgres = eventStoreUrlOf(dataDir) === undefined
    for (const [round, moment] of moments.entries()) {
      const id = await live(service, token, round)
      const before = await shown(service, token, round)
      const path = `/v1/traces/t${round}/history/erase`
      const asked = service.call('POST', path, { token }).catch(() => undefined)
      if (inPostgres) await moment(service, id)
      else await setTimeout(random.int(400))
      await service.end('SIGKILL')
      const erased = (await asked)?.status === 200
      service = await serveOn(dataDir, { SUMMARY_PROVIDER: 'none' })
      assert.equal(await shown(service, token, round), before, `round ${round}`)
      const { data } = await service.call('GET', `/v1/traces/t${round}/events`, { token })
      const types = (data as { events: { type: string }[] }).events.map(({ type }) => type)
      if (erased || types.length === 1) assert.equal(types, ['HistoryErased'])
      else assert.is(types.length, 2 * LARGE + 2)
      if (round === 1) await rebuildNow({ environment })
      assert.is((await service.call('POST', path, { token })).status, 200)
      await until(async () => !(await isDue(service)) && (await placesOf(service, secretOf(round))).length === 0)
      assert.is(await quarantined(service), 0)
      assert.equal(await shown(service, token, round), before, `round ${round}, at last`)
    }
    await rebuildNow({ environment })
    assert.is(await quarantined(service), 0)
    assert.is(await service.end('SIGTERM'), 0)
  }))

test.run()
