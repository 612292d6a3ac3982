import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { replayServed } from '../../../src/eventstore/engine/replay.ts'
import { traceId } from '../../../src/base/ids.ts'
import { newApplyingClient, withConnection } from '../../../src/eventstore/postgres/connect.ts'
import { onServer } from '../../support/database.ts'
import { type Person, callerOf, openWorld, signIn } from '../../support/world.ts'
import { png, webp } from '../../support/pictures.ts'
import { typesSince } from '../../support/types-since.ts'

const test = suite('quotas of namespaces')
const HOUR = 60 * 60 * 1_000
const clock = { now: Date.UTC(2026, 0, 1) }
const env = { QUOTA_TRACES: '3', QUOTA_BYTES: '20000', QUOTA_AVATAR_BYTES: String(png.length + webp.length - 1) }
const { database, node: free, openNode } = await openWorld(test, { now: () => clock.now })
const node = await openNode({ env })
const { app, service } = node

/** Names of traces are each person's own: one that somebody else has is nobody's business. */
const own = ({ namespaceSlug }: Person, name: string) => `${namespaceSlug}-${name}`
const put = (who: Person, name: string, body: object = {}, method: 'PUT' | 'PATCH' = 'PUT') =>
  who.ask(method, `/v1/traces/${own(who, name)}`, body)
const remove = (who: Person, name: string) => who.ask('DELETE', `/v1/traces/${own(who, name)}`)
const message = (externalId: string, length: number) => ({ externalId, role: 'user', textContent: 'x'.repeat(length) })
const batch = (who: Person, trace: string, ...messages: object[]) =>
  who.ask('POST', `/v1/traces/${own(who, trace)}/messages/batch`, { messages })
const outcome = ({ status, error }: { status: number; error?: { code: string } }) => [status, error?.code]
const exceeded = [403, 'quota_exceeded']
const head = () => service.log.head()

const sizes = async ({ namespaceId }: Person) => {
  const { rows } = await onServer(
    database.url,
    `select traces, bytes from ${schemaOf(mainGroup)}.sizes where namespace_id = $1`,
    [namespaceId],
  )
  const sums = await onServer(
    database.url,
    `select count(*) as traces, sum(bytes) as bytes from ${schemaOf(mainGroup)}.traces where namespace_id = $1
      having count(*) > 0`,
    [namespaceId],
  )
  const numbers = (list: typeof rows) => list.map(({ traces, bytes }) => [Number(traces), Number(bytes)])
  assert.equal(numbers(rows), numbers(sums.rows))
  return numbers(rows)[0] ?? [0, 0]
}

test('a namespace takes as many traces as allowed; existing ones can be updated, and a deletion makes room', async () => {
  const ada = await signIn(node)
  for (const name of ['a', 'b', 'c']) assert.is((await put(ada, name)).status, 200)
  const before = await head()
  assert.equal(outcome(await put(ada, 'd')), exceeded)
  assert.equal(outcome(await ada.ask('POST', '/v1/traces', { externalId: own(ada, 'd') })), exceeded)
  assert.equal(await typesSince(service.log, before), [], 'nothing is stored')
  assert.is((await put(ada, 'a', { title: 'again' })).status, 200)
  assert.is((await put(ada, 'a', { title: 'once more' }, 'PATCH')).status, 200)
  assert.is((await put(await signIn(node), 'd')).status, 200, 'another namespace')
  await remove(ada, 'b')
  assert.is((await put(ada, 'd')).status, 200)
  assert.equal(outcome(await put(ada, 'b')), exceeded)
  assert.is((await sizes(ada))[0], 3)
})

test('concurrent creations create as many traces as there is room for', async () => {
  const bob = await signIn(node)
  const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => put(bob, `t${i}`)))
  const statuses = answers.map(({ status }) => status)
  assert.equal([statuses.filter((one) => one === 200).length, statuses.filter((one) => one === 403).length], [3, 9])
  assert.is((await sizes(bob))[0], 3)
})

test('messages are stored until a namespace is full, each batch as a whole or not at all', async () => {
  const cleo = await signIn(node)
  for (const name of ['a', 'b']) await put(cleo, name)
  assert.is((await batch(cleo, 'a', message('m1', 8_000))).status, 200)
  assert.is((await batch(cleo, 'b', message('m1', 8_000))).status, 200)
  const before = await head()
  assert.equal(outcome(await batch(cleo, 'a', message('m2', 100), message('m3', 6_000))), exceeded)
  const one = { role: 'user', textContent: 'x'.repeat(6_000) }
  assert.equal(outcome(await cleo.ask('PUT', `/v1/traces/${own(cleo, 'a')}/messages/m2`, one)), exceeded)
  assert.equal(await typesSince(service.log, before), [], 'nothing is stored')
  assert.is((await batch(cleo, 'a', message('m2', 100))).status, 200)
})

test('a request that could never fit is a 413', async () => {
  const dora = await signIn(node)
  await put(dora, 'a')
  assert.equal(outcome(await batch(dora, 'a', message('m1', 20_001))), [413, 'payload_too_large'])
  assert.is((await batch(dora, 'a', message('m1', 10))).status, 200)
})

test('a full namespace accepts retries, shorter messages and deletions', async () => {
  const eve = await signIn(node)
  for (const name of ['a', 'b']) await put(eve, name)
  const [long, other] = [message('m1', 9_000), message('m2', 9_000)]
  assert.is((await batch(eve, 'a', long, other)).status, 200)
  assert.equal(outcome(await batch(eve, 'a', message('m3', 3_000))), exceeded)
  const before = await head()
  const retried = await batch(eve, 'a', long, other)
  assert.equal([retried.status, (retried.data as { unchanged: number }).unchanged], [200, 2])
  assert.equal(await typesSince(service.log, before), [])
  assert.equal(outcome(await batch(eve, 'a', { ...other, textContent: 'y'.repeat(9_000) })), exceeded)
  assert.is((await batch(eve, 'a', message('m1', 4_000))).status, 200)
  assert.equal(outcome(await batch(eve, 'b', message('m1', 9_000))), exceeded)
  assert.is((await remove(eve, 'a')).status, 200)
  assert.is((await batch(eve, 'b', message('m1', 9_000))).status, 200)
})

test('concurrent batches fill a namespace no further than allowed', async () => {
  const finn = await signIn(node)
  for (const name of ['a', 'b']) await put(finn, name)
  const writes = Array.from({ length: 16 }, (_, i) => batch(finn, i % 2 ? 'a' : 'b', message(`m${i}`, 4_000)))
  const statuses = (await Promise.all(writes)).map(({ status }) => status)
  assert.equal([statuses.filter((one) => one === 200).length, statuses.filter((one) => one === 403).length], [4, 12])
  const [, bytes] = await sizes(finn)
  assert.ok(bytes! <= 20_000, `${bytes}`)
})

test('without quotas nothing is counted', async () => {
  const ian = callerOf(free, (await signIn(node)).token)
  for (const name of ['a', 'b', 'c', 'd']) await ian.send('PUT', `/v1/traces/free-${name}`, {})
  const messages = [message('m', 30_000)]
  await ian.send('POST', '/v1/traces/free-a/messages/batch', { messages })
})

test('replaced pictures count for an hour; the present one does not', async () => {
  const gus = await signIn(node)
  const putAvatar = async (payload: Buffer) => {
    const headers = { ...gus.headers, 'content-type': 'image/png' }
    const url = `/v1/namespaces/${gus.namespaceSlug}/avatar`
    const answer = await app.inject({ method: 'PUT', url, headers, payload })
    return [answer.statusCode, answer.json().error?.code]
  }
  const padded = (size: number) => Buffer.concat([png, Buffer.alloc(size)])
  assert.equal(await putAvatar(padded(1_000)), [413, 'payload_too_large'])
  assert.equal(await putAvatar(png), [200, undefined])
  assert.equal(await putAvatar(webp), [200, undefined])
  const before = await head()
  assert.equal(await putAvatar(padded(1)), exceeded)
  assert.equal(await typesSince(service.log, before), [])
  assert.equal(await putAvatar(webp), [200, undefined], 'the same again')
  assert.equal(await putAvatar(png), [200, undefined], 'one that is still there')
  clock.now += HOUR + 1
  assert.equal(await putAvatar(png), [200, undefined])
  assert.equal(await putAvatar(padded(1)), [200, undefined])
})

const replayed = async (stream: string) => {
  await withConnection(newApplyingClient(database.url, schemaOf(mainGroup)), (client) =>
    replayServed({ client, group: mainGroup }, service, stream),
  )
}

test('the sizes stay right when the rows of a trace are rebuilt', async () => {
  const hal = await signIn(node)
  for (const name of ['a', 'b']) await put(hal, name)
  for (const name of ['a', 'b']) await batch(hal, name, message('m', 3_000))
  const before = await sizes(hal)
  await replayed(`trace-${traceId(hal.namespaceId, own(hal, 'a'))}`)
  assert.equal(await sizes(hal), before)
})

test.run()
