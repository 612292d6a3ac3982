import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder } from '../embedded/support.ts'
import { feedOf, insist } from '../../fault/support/answers.ts'
import { assertAsRebuilt, openNode } from '../../fault/support/nodes.ts'
import { logIn, startCopied } from '../../fault/support/older-copy.ts'
import { type Service } from '../../fault/support/service.ts'
import { until } from '../../support/until.ts'

/** By its numbers alone the log looks as if it had grown: others have written beyond what was lost. */
const test = suite('engine: a log that has lost its end, and has been written to since')

const path = (trace: string) => `/v1/traces/${trace}`

test('is noticed by a service that was frozen meanwhile', () =>
  inFolder(async (folder) => {
    const server = await startCopied(folder)
    const services: Service[] = []
    const open = async (name: string) => {
      services.push(await openNode(folder, name, server.url))
      return services.at(-1)!
    }
    try {
      const service = await open('first')
      const token = await service.signIn('device')
      const put = (to: Service, trace: string, body: object) => insist(to, 'PUT', path(trace), token, body)
      for (const trace of ['hidden', 'gone', 'kept']) await put(service, trace, { visibility: 'public', title: 'old' })
      await server.copy()
      await put(service, 'hidden', { visibility: 'private' })
      await insist(service, 'DELETE', path('gone'), token)
      await put(service, 'kept', { visibility: 'public', title: 'lost' })
      assert.equal(await feedOf(service), ['kept'])
      const before = await logIn(server.url)
      await server.putBack(() => process.kill(service.pid, 'SIGSTOP'))

      const other = await open('other')
      const names = Array.from({ length: 12 }, (_, i) => `n${i}`)
      for (const name of names) await put(other, name, { visibility: 'public' })
      await put(other, 'kept', { visibility: 'public', title: 'new' })
      assert.ok((await logIn(server.url)).head > before.head)
      process.kill(service.pid, 'SIGCONT')

      await put(service, 'fresh', { visibility: 'public' })
      const wanted = ['fresh', 'gone', 'hidden', 'kept', ...names].sort()
      for (const one of services) await until(async () => `${await feedOf(one)}` === `${wanted}`)
      await put(service, 'kept', { visibility: 'public', title: 'lost' }) // decided on what is stored, not on what was
      for (const one of services) {
        const { data } = await one.call('GET', path('kept'), { token })
        assert.is((data as { trace: { title: string } }).trace.title, 'lost')
      }
      assert.not.equal((await logIn(server.url)).epoch, before.epoch)
      assert.match(service.output(), /"level":50[^\n]*has lost its end/)
      await assertAsRebuilt(server.url)
    } finally {
      await Promise.all(services.map((one) => one.end('SIGKILL')))
      await server.stop()
    }
  }))

test.run()
