import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder } from '../embedded/support.ts'
import { feedOf, insist } from '../../fault/support/answers.ts'
import { assertAsRebuilt, openNode } from '../../fault/support/nodes.ts'
import { logIn, startCopied } from '../../fault/support/older-copy.ts'
import { type Service } from '../../fault/support/service.ts'
import { until } from '../../support/until.ts'

/** The log in PostgreSQL loses its end under a living service: a restored backup, or a standby that lagged. */
const test = suite('engine: a log that has lost its end')

const path = (trace: string) => `/v1/traces/${trace}`
const shared = { visibility: 'public' }

/** Takes two traces out of the feed, and writes more besides. */
const write = async (service: Service, token: string) => {
  await insist(service, 'PUT', path('hidden'), token, { visibility: 'private' })
  await insist(service, 'DELETE', path('gone'), token)
  for (let i = 0; i < 10; i++) await insist(service, 'PUT', `${path('kept')}/messages/m${i}`, token, { role: 'user' })
}

const messagesIn = async (service: Service, token: string, trace: string): Promise<number> => {
  const { data } = await service.call('GET', path(trace), { token })
  return (data as { trace: { messageCount: number } }).trace.messageCount
}

test('is noticed by a running service, which goes on with what the log holds', () =>
  inFolder(async (folder) => {
    const server = await startCopied(folder)
    const service = await openNode(folder, 'service', server.url)
    try {
      const token = await service.signIn('device')
      for (const trace of ['hidden', 'gone', 'kept']) await insist(service, 'PUT', path(trace), token, shared)
      await server.copy()
      await write(service, token)
      assert.equal(await feedOf(service), ['kept'])
      const before = await logIn(server.url)
      await server.putBack()

      await insist(service, 'PUT', path('fresh'), token, shared)
      const after = await logIn(server.url)
      assert.ok(after.head < before.head, 'positions are handed out again')
      assert.not.equal(after.epoch, before.epoch)
      assert.match(service.output(), /"level":50[^\n]*has lost its end/)
      assert.equal(await feedOf(service), ['fresh', 'gone', 'hidden', 'kept'])
      assert.is(await messagesIn(service, token, 'kept'), 0)

      await write(service, token)
      assert.equal(await feedOf(service), ['fresh', 'kept'])
      await until(() => service.isReady())
      await assertAsRebuilt(server.url)
    } finally {
      await service.end('SIGKILL')
      await server.stop()
    }
  }))

test.run()
