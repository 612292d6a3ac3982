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

type World = {
  readonly server: Awaited<ReturnType<typeof startCopied>>
  readonly services: readonly Service[]
  open(name: string): Promise<Service>
}

/** A PostgreSQL that is put back to an older copy, with services that use it. */
const inWorld = (work: (world: World) => Promise<unknown>) =>
  inFolder(async (folder) => {
    const server = await startCopied(folder)
    const services: Service[] = []
    const open = async (name: string) => {
      const service = await openNode(folder, name, server.url)
      services.push(service)
      return service
    }
    try {
      await work({ server, services, open })
    } finally {
      await Promise.all(services.map((one) => one.end('SIGKILL')))
      await server.stop()
    }
  })

const traceIn = async (service: Service, token: string, trace: string) =>
  ((await service.call('GET', path(trace), { token })).data as { trace: { title: string; messageCount: number } }).trace

/** Takes two traces out of the feed, and writes more besides. */
const write = async (service: Service, token: string) => {
  await insist(service, 'PUT', path('hidden'), token, { visibility: 'private' })
  await insist(service, 'DELETE', path('gone'), token)
  for (let i = 0; i < 10; i++) await insist(service, 'PUT', `${path('kept')}/messages/m${i}`, token, { role: 'user' })
}

test('is noticed by a running service, which goes on with what the log holds', () =>
  inWorld(async ({ server, open }) => {
    const service = await open('service')
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
    assert.is((await traceIn(service, token, 'kept')).messageCount, 0)

    await write(service, token)
    assert.equal(await feedOf(service), ['fresh', 'kept'])
    await until(() => service.isReady())
    await assertAsRebuilt(server.url)
  }))

// By its numbers alone the log looks as if it had grown.
test('is noticed by a service that was frozen meanwhile, although others have written beyond what was lost', () =>
  inWorld(async ({ server, services, open }) => {
    const service = await open('first')
    const token = await service.signIn('device')
    const put = (to: Service, trace: string, body: object) => insist(to, 'PUT', path(trace), token, body)
    for (const trace of ['hidden', 'gone', 'kept']) await put(service, trace, { ...shared, title: 'old' })
    await server.copy()
    await put(service, 'hidden', { visibility: 'private' })
    await insist(service, 'DELETE', path('gone'), token)
    await put(service, 'kept', { ...shared, title: 'lost' })
    assert.equal(await feedOf(service), ['kept'])
    const before = await logIn(server.url)
    await server.putBack(() => process.kill(service.pid, 'SIGSTOP'))

    const other = await open('other')
    const names = Array.from({ length: 12 }, (_, i) => `n${i}`)
    for (const name of names) await put(other, name, shared)
    await put(other, 'kept', { ...shared, title: 'new' })
    assert.ok((await logIn(server.url)).head > before.head)
    process.kill(service.pid, 'SIGCONT')

    await put(service, 'fresh', shared)
    const wanted = ['fresh', 'gone', 'hidden', 'kept', ...names].sort()
    for (const one of services) await until(async () => `${await feedOf(one)}` === `${wanted}`)
    await put(service, 'kept', { ...shared, title: 'lost' }) // decided on what is stored, not on what was
    for (const one of services) assert.is((await traceIn(one, token, 'kept')).title, 'lost')
    assert.not.equal((await logIn(server.url)).epoch, before.epoch)
    assert.match(service.output(), /"level":50[^\n]*has lost its end/)
    await assertAsRebuilt(server.url)
  }))

test.run()
