import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newRealtimeClient } from '../../src/contract/realtime-client/client.ts'
import { followMessages } from '../../src/contract/realtime-client/messages.ts'
import { inFolder } from '../eventstore/embedded/support.ts'
import { until } from '../support/until.ts'
import { type Service, postgresPid, serveOn } from './support/service.ts'
import { moreBatches, newWriter, path } from './support/writers.ts'

const test = suite('fault/realtime')

type Listed = { readonly externalId: string }[]

/** What a page shows that follows a trace, wherever the service is. */
const follow = (service: () => Service, token: string, externalId: string) => {
  const connect = () => new WebSocket(`${service().url.replace('http', 'ws')}/v1/realtime`)
  const client = newRealtimeClient({ server: service().url, connect })
  const shown = new Set<string>()
  const failures: unknown[] = []
  followMessages(
    client,
    { externalId, authToken: token },
    {
      changed: ({ messages }) => messages.forEach(({ externalId }) => shown.add(externalId)),
      gone: () => shown.clear(),
      failed: (error) => failures.push(error),
    },
  )
  return { shown, failures, close: client.close }
}

test('who follows a trace is shown all of it, whatever is killed meanwhile', () =>
  inFolder(async (dataDir) => {
    let service = await serveOn(dataDir)
    const token = await service.signIn('device')
    const writers = Array.from({ length: 3 }, () => newWriter(() => service, token))
    const pages = writers.map(({ trace }) => follow(() => service, token, trace))
    await moreBatches(writers, 5)
    process.kill(await postgresPid(dataDir), 'SIGKILL')
    await moreBatches(writers, 5)
    await service.end('SIGKILL')
    service = await serveOn(dataDir)
    await moreBatches(writers, 5)
    await service.end('SIGTERM')
    service = await serveOn(dataDir)
    await moreBatches(writers, 2)
    await Promise.all(writers.map(({ stop }) => stop()))
    for (const [i, { trace }] of writers.entries()) {
      const { data } = await service.call('GET', `${path(trace)}/messages`, { token })
      const stored = (data as { messages: Listed }).messages.map(({ externalId }) => externalId).sort()
      assert.ok(stored.length > 0)
      await until(() => pages[i]!.shown.size === stored.length)
      assert.equal([...pages[i]!.shown].sort(), stored)
      assert.equal(pages[i]!.failures, [])
      pages[i]!.close()
    }
    assert.is(await service.end('SIGTERM'), 0)
  }))

test.run()
