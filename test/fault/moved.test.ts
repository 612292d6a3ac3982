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

const test = suite('fault/moved')

const random = newRandom(Number(process.env.FAULT_SEED ?? '5'))
/** The number of messages of two MB each, of which an append holds four. */
const LARGE = 6
const TEAM = 'team'

type Data = { readonly trace: Record<string, unknown>; readonly messages: readonly Record<string, unknown>[] }

const sent = async (service: Service, method: string, path: string, token: string, body?: object): Promise<Data> => {
  const { status, data, error } = await service.call(method, path, body ? { token, body } : { token })
  assert.is(status, 200, `${method} ${path}: ${JSON.stringify(error)}`)
  return data as Data
}

/** What a trace is in a namespace, without what names its place; undefined where there is none. */
const shown = async (service: Service, token: string, externalId: string, slug: string) => {
  const path = `/v1/traces/${externalId}`
  const { status, data } = await service.call('GET', `${path}?namespace=${slug}`, { token })
  if (status !== 200) return undefined
  const { id: _, namespace, ...trace } = (data as Data).trace
  if ((namespace as { slug: string }).slug !== slug) return undefined // it was led there from its old place
  const { messages } = await sent(service, 'GET', `${path}/messages?namespace=${slug}`, token)
  return [trace, messages.map(({ id: _, traceId: _t, revision: _r, ...message }) => message)]
}

const eventsAfter = async ({ databaseUrl }: Service, before: number) => {
  const text = 'select count(*)::int4 as n from log.events'
  return ((await onServer(databaseUrl, text)).rows[0]!.n as number) - before
}

test('wherever the service is killed, a trace is whole where it was or where it goes, and a repetition ends the move', () =>
  inFolder(async (dataDir) => {
    let service = await serveOn(dataDir, { SUMMARY_PROVIDER: 'none' })
    const token = await service.signIn('device')
    const { namespaceSlug: home } = (
      (await sent(service, 'GET', '/v1/session', token)) as unknown as { session: { namespaceSlug: string } }
    ).session
    await sent(service, 'POST', '/v1/namespaces', token, { slug: TEAM, displayName: TEAM })
    const inPostgres = eventStoreUrlOf(dataDir) === undefined
    // After so many events of the move: the empty trace, the first messages, all of them and what completes it, the deletion.
    for (const [round, events] of [1, 3, LARGE + 2, LARGE + 3].entries()) {
      const externalId = `t${round}`
      const words = `Schroedinger's dog number ${round} `
      const path = `/v1/traces/${externalId}`
      await sent(service, 'PUT', `${path}?namespace=${home}`, token, { title: 'kept' })
      for (let i = 0; i < LARGE; i++)
        await sent(service, 'POST', `${path}/messages/batch?namespace=${home}`, token, {
          messages: [{ externalId: `m${i}`, role: 'user', timestamp: i, textContent: words.repeat(60_000) }],
        })
      const before = await shown(service, token, externalId, home)
      const head = await eventsAfter(service, 0)
      const move = () => service.call('POST', `${path}/move?namespace=${home}`, { token, body: { namespace: TEAM } })
      const asked = move().catch(() => undefined)
      if (inPostgres) await until(async () => (await eventsAfter(service, head)) >= events)
      else await setTimeout(random.int(400))
      await service.end('SIGKILL')
      const wasAnswered = (await asked)?.status === 200
      service = await serveOn(dataDir, { SUMMARY_PROVIDER: 'none' })
      const [here, there] = [
        await shown(service, token, externalId, home),
        await shown(service, token, externalId, TEAM),
      ]
      if (wasAnswered) assert.equal([here, there], [undefined, before])
      else assert.equal(here ?? there, before, `round ${round}`)
      if (round === 1)
        await rebuildNow({ environment: () => ({ DATABASE_URL: service.databaseUrl, ...logEnvironment(dataDir) }) })
      await sent(service, 'POST', `${path}/move?namespace=${home}`, token, { namespace: TEAM })
      assert.equal(await shown(service, token, externalId, TEAM), before, `round ${round}, at last`)
      assert.is(await shown(service, token, externalId, home), undefined)
      await until(async () => !(await isDue(service)))
      assert.is(await quarantined(service), 0)
      await sent(service, 'DELETE', `${path}?namespace=${TEAM}`, token)
      await until(async () => !(await isDue(service)) && (await placesOf(service, words)).length === 0)
    }
    assert.is(await service.end('SIGTERM'), 0)
  }))

test.run()
