import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { timelineGroup } from '../../../projections/index.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { rebuild } from '../../../src/eventstore/engine/rebuild.ts'
import { locks } from '../../../src/eventstore/engine/schema.ts'
import { entryTypes } from '../../../src/contract/entry-types.ts'
import { dumpSchema } from '../../support/dump-schema.ts'
import { withConnection } from '../../support/database.ts'
import { signIn } from '../../support/world.ts'
import { listen, openSlowReader } from '../../support/slow-reader.ts'
import { until } from '../../support/until.ts'
import { openHistory } from './support.ts'

const test = suite('history: the timeline')

const { database, node, user: ada } = await openHistory(test)
const port = await listen(node)
const { ask, send, say, newTrace } = ada

type Entry = {
  revision: number
  type: string
  at: number
  text: string
  actor?: { userId: string; displayName?: string }
  trace?: { id: string; externalId: string }
  messages?: { added: number; updated: number }
  messageCount?: number
  createdAt?: number
}
type List = { events: Entry[]; nextCursor?: string }

const message = (i: number, textContent = 'x') => ({ externalId: `m${i}`, role: 'user', textContent })
const batch = (url: string, ...messages: object[]) => say(url, messages)
const texts = async (url: string, query = '') =>
  (await send<List>('GET', `${url}/events${query}`)).events.map(({ text }) => text)
const home = `/v1/namespaces/${ada.namespaceSlug}`

test('both orders can be asked for with all filters at once', async () => {
  const { externalId, url } = await newTrace({ title: 'T' })
  await send('PATCH', url, { title: 'Other' })
  const filters = `type=TraceCreated,TraceUpdated&actor=${ada.userId}&from=0&to=${Date.now() + 1e6}&trace=${externalId}&limit=1`
  const all = async (order: string) => {
    const of = (cursor: string) => send<List>('GET', `${home}/events?order=${order}&${filters}${cursor}`)
    const first = await of('')
    return [first, await of(`&cursor=${first.nextCursor}`)].flatMap(({ events }) => events.map(({ type }) => type))
  }
  assert.equal(await all('asc'), ['TraceCreated', 'TraceUpdated'])
  assert.equal(await all('desc'), ['TraceUpdated', 'TraceCreated'])
})

test('every entry is a sentence with the current names', async () => {
  await send('PATCH', '/v1/user', { displayName: 'Ada' })
  const { url } = await newTrace({ title: 'First' })
  await batch(url, message(1), message(2), message(3))
  await batch(url, message(1, 'changed'), message(4))
  await batch(url, message(1, 'again'))
  await send('PATCH', url, { title: 'Sec\nond\u202e', gitBranch: 'main' })
  await send('PATCH', url, { visibility: 'public' })
  await send('PATCH', url, {})
  await send('PATCH', '/v1/user', { displayName: 'Ada\u0000\nL.' })
  assert.equal(await texts(url), [
    'Ada L. created the trace “First”',
    '3 messages added by Ada L.',
    '1 message added, 1 changed by Ada L.',
    '1 message changed by Ada L.',
    'Ada L. changed the title to “Sec ond” and set the git branch to “main”',
    'Ada L. made the trace public',
    'Ada L. uploaded the trace again without a change',
  ])
})

test('the life of a namespace is shown', async () => {
  const bob = await signIn(node)
  const slug = `team-${randomUUID().slice(0, 8)}`
  const url = `/v1/namespaces/${slug}`
  await send('POST', '/v1/namespaces', { slug, displayName: 'Team' })
  await bob.send('PATCH', '/v1/user', { displayName: 'Bob' })
  await send('PATCH', '/v1/user', { displayName: 'Ada' })
  const { invite } = await send<{ invite: { code: string } }>('POST', `${url}/invites`, { maxUses: 3 })
  await bob.send('POST', `/v1/invites/${invite.code}/accept`)
  await send('PATCH', `${url}/members/${bob.userId}`, { role: 'admin' })
  await send('PATCH', url, { displayName: 'The team' })
  await bob.send('DELETE', `${url}/invites/${invite.code}`)
  await bob.send('DELETE', `${url}/members/${bob.userId}`)
  const masked = `${invite.code.slice(0, 4)}…`
  assert.equal(await texts(url, '?order=asc'), [
    'Ada created the namespace “Team”',
    'Ada became an admin',
    `Ada made the invite ${masked} for 3 members`,
    `Bob joined as a member with the invite ${masked} of Ada`,
    'Ada made Bob an admin',
    'Ada renamed the namespace to “The team”',
    `Bob revoked the invite ${masked}`,
    'Bob left the namespace',
  ])
})

test('filters and cursors work, and invalid ones are refused', async () => {
  const { url, externalId } = await newTrace({ title: 'T' })
  for (let i = 0; i < 5; i++) await batch(url, message(i))
  await send('PATCH', url, { title: '2' })
  const all = (await send<List>('GET', `${url}/events`)).events
  const of = async (query: string) =>
    (await send<List>('GET', `${url}/events?${query}`)).events.map(({ revision }) => revision)
  const revisions = all.map(({ revision }) => revision)
  assert.equal(await of('order=desc'), revisions.toReversed())
  assert.equal(await of('type=TraceCreated,TraceUpdated'), [revisions[0], revisions.at(-1)])
  assert.equal(await of(`type=${entryTypes.join()}`), revisions)
  assert.equal(await of(`actor=${ada.userId}`), revisions)
  for (const query of ['actor=nobody', 'actor=%00', 'from=5&to=4', 'limit=0', 'type=MemberJoined'])
    assert.equal(await of(query), [], query)
  for (const path of [`${url}/events`, `${home}/events`]) {
    for (const query of [
      'type=',
      'type=Nonsense',
      'type=TraceCreated,',
      'order=up',
      'limit=x',
      'from=soon',
      'to=2026-01-01',
      'cursor=x',
      'cursor=',
    ])
      assert.is((await ask('GET', `${path}?${query}`)).status, 400, query)
    const far = Buffer.from('["namespace","9999999999999999999",0]').toString('base64url')
    assert.is((await ask('GET', `${path}?cursor=${far}`)).status, 400)
  }
  for (const [path, order] of [
    [`${url}/events?order=asc`, 'asc'],
    [`${url}/events?order=desc`, 'desc'],
    [`${home}/events?order=asc&trace=${externalId}`, 'asc'],
    [`${home}/events?order=desc&trace=${externalId}&actor=${ada.userId}&from=0`, 'desc'],
  ] as const) {
    const found: number[] = []
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const { events, nextCursor }: List = await send<List>('GET', `${path}&limit=3${cursor && `&cursor=${cursor}`}`)
      found.push(...events.map(({ revision }) => revision))
      cursor = nextCursor
    }
    assert.equal(found, order === 'asc' ? revisions : revisions.toReversed(), path)
  }
  assert.equal(await texts(home, '?trace=never-heard-of'), [])
})

test('requests that share an append have separate entries', async () => {
  const { url } = await newTrace({ title: 'T' })
  await Promise.all(
    Array.from({ length: 12 }, (_, i) => batch(url, message(2 * i), message(2 * i + 1), message(2 * i + 1, 'again'))),
  )
  const { events } = await send<List>('GET', `${url}/events`)
  assert.equal(
    events.slice(1).map(({ messages }) => messages),
    Array.from({ length: 12 }, () => ({ added: 2, updated: 1 })),
  )
})

const deletionsOf = async (externalId: string) =>
  (await send<List>('GET', `${home}/events?order=asc&trace=${externalId}`)).events

test('a trace that was deleted repeatedly keeps its deletions, each with the title at that time', async () => {
  const { url, externalId } = await newTrace({ title: 'T' })
  for (let life = 1; life <= 3; life++) {
    await batch(url, ...Array.from({ length: life }, (_, i) => message(i)))
    const { trace } = await send<{ trace: { id: string; createdAt: number } }>('GET', url)
    await send('DELETE', url)
    const left = await deletionsOf(externalId)
    assert.equal(
      left.map(({ type, messageCount, actor }) => [type, messageCount, actor?.userId]),
      Array.from({ length: life }, (_, i) => ['TraceDeleted', i + 1, ada.userId]),
    )
    assert.is(left.at(-1)!.createdAt, trace.createdAt)
    const { event } = await send<{ event: { type: string; data: { messageCount: number } } }>(
      'GET',
      `${home}/deletions/${trace.id}`,
    )
    assert.equal([event.type, event.data.messageCount], ['TraceDeleted', life])
    for (const path of ['events', 'events/0', 'diff?from=0'])
      assert.is((await ask('GET', `${url}/${path}`)).status, 404)
    await send('PUT', url, {})
    assert.equal(await texts(url), ['Ada created the trace'])
  }
})

const lockOfRunner = locks.swap(schemaOf(timelineGroup))

test('while the timeline lags, deleted traces are hidden, the rest is shown, and requests that need it get an error', async () => {
  const { url, externalId } = await newTrace({ title: 'secret' })
  await batch(url, message(1))
  const revision = (await send<List>('GET', `${url}/events`)).events.at(-1)!.revision
  await withConnection(database.url, async (client) => {
    await client.query('select pg_advisory_lock(hashtext($1))', [lockOfRunner])
    await send('PATCH', url, { title: 'secret too' })
    await send('DELETE', url)
    for (const path of ['/events', `/events/${revision}`, `?revision=${revision}`, `/messages?revision=${revision}`])
      assert.is((await ask('GET', `${url}${path}`)).status, 404, path)
    await send('PUT', url, {})
    assert.equal((await node.service.readiness()).missing, [])
    const late = [`${url}/events`, `${url}?at=${Date.now()}`, `${home}/events`]
    const answers = await node.unrepeated(() => Promise.all(late.map((path) => ask('GET', path))))
    assert.equal(
      answers.map(({ status }) => status),
      [503, 503, 503],
    )
    await send('GET', url)
  })
  assert.equal(await texts(url), ['Ada created the trace'])
  assert.equal(
    (await deletionsOf(externalId)).map(({ type }) => type),
    ['TraceDeleted', 'TraceCreated'],
  )
})

/** Resolves when the timeline shows all there is, and everything that was deleted is erased. */
const erased = async () => {
  await send('GET', `${home}/events`)
  await withConnection(database.url, (client) =>
    until(async () => {
      const { rows } = await client.query(`
        select (select count(*)::int from ${schemaOf(timelineGroup)}.obsolete_entries)
          + (select count(*)::int from tracebook.erasures) as left`)
      return rows[0].left === 0
    }),
  )
}

test('nothing of a deleted trace is left in the tables of the timeline', async () => {
  const { url } = await newTrace({ title: 'Marker-of-the-erased' })
  for (let i = 0; i < 3; i++) await batch(url, message(i))
  await send('DELETE', url)
  const schema = schemaOf(timelineGroup)
  await withConnection(database.url, (client) =>
    until(async () => {
      const { rows } = await client.query(`
        select (select count(*)::int from ${schema}.obsolete_entries) as obsolete,
          (select count(*)::int from ${schema}.entries where data::text like '%Marker-of-the-erased%') as rows`)
      return rows[0].obsolete === 0 && rows[0].rows === 0
    }),
  )
})

const act = fc.record({ on: fc.nat(3), does: fc.constantFrom('write', 'write', 'delete', 'rename') })

test('whatever was deleted, a rebuild ends in the same timeline, and cursors stay valid', async () => {
  const schema = schemaOf(timelineGroup)
  const { log, codec } = node.service
  const entries = async (query: string) => await send<List>('GET', `${home}/events?${query}`)
  const property = fc.asyncProperty(fc.array(act, { minLength: 15, maxLength: 25 }), async (acts) => {
    const batchOf = { messages: [message(1), message(2)] }
    for (const [i, { on, does }] of acts.entries()) {
      const url = `/v1/traces/random-${on}`
      if (does === 'rename') await send('PATCH', home, { displayName: `name ${i}` })
      else if (does === 'delete') await ask('DELETE', url)
      else await send('PUT', url, { title: `title ${i}` })
      if (does === 'write') await send('POST', `${url}/messages/batch`, batchOf)
    }
    await erased()
    const { events: all } = await entries('order=asc&limit=1000')
    const limit = Math.floor(all.length / 2)
    const [up, down] = [await entries(`order=asc&limit=${limit}`), await entries(`order=desc&limit=${limit}`)]
    const live = await dumpSchema(database.url, schema)
    await rebuild({ url: database.url, group: timelineGroup, log, codec })
    assert.equal(await dumpSchema(database.url, schema), live)
    const rest = ({ nextCursor }: List, order: string) => entries(`order=${order}&limit=1000&cursor=${nextCursor}`)
    assert.equal([...up.events, ...(await rest(up, 'asc')).events], all)
    assert.equal([...down.events, ...(await rest(down, 'desc')).events], all.toReversed())
  })
  await fc.assert(property, { numRuns: 3 })
})

test('a list of the past ends when its trace is deleted', async () => {
  const { url } = await newTrace({ title: 'T' })
  const textContent = 'x'.repeat(80 * 1_024)
  await batch(url, ...Array.from({ length: 128 }, (_, i) => message(i, textContent)))
  const revision = (await send<List>('GET', `${url}/events`)).events.at(-1)!.revision
  await batch(url, ...Array.from({ length: 128 }, (_, i) => message(i, `${textContent}y`)))
  const reader = await openSlowReader(port, `${url}/messages?revision=${revision}`, ada.token)
  await send('DELETE', url)
  assert.not((await reader.rest()).isWhole)
})

test.run()
