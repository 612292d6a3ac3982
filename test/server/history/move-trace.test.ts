import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { traceId } from '../../../src/base/ids.ts'
import { arrive } from '../../../src/server/trace/decide.ts'
import { withdrawStale } from '../../../src/server/history/withdraw-stale.ts'
import { eventsOf, notedIn } from '../erasure/support.ts'
import { type NamedTrace, type Person, callerOf, signIn } from '../../support/world.ts'
import { until } from '../../support/until.ts'
import { equalAfterRebuild, openHistory } from './support.ts'

const test = suite('history: a moved trace')

const { database, node, openNode, user: ada } = await openHistory(test)
const [bob, cleo, dan] = [await signIn(node), await signIn(node), await signIn(node)]
const acme = await ada.newTeam('acme')
const beta = await ada.newTeam('beta')
await ada.admit('acme', bob)
await ada.admit('acme', cleo)
await ada.admit('beta', bob)

const textOf = (externalId: string, text: string) => ({
  externalId,
  role: 'assistant',
  timestamp: 1_700_000_000_000,
  usage: { inputTokens: 10, outputTokens: 5, responseId: `r-${externalId}` },
  parts: [
    { type: 'text', content: { text } },
    { type: 'tool_call', content: { callId: 'c', toolName: 'Bash', args: { text } } },
  ],
})
/** So many messages of 1.8 MB are more than an append holds. */
const LARGE = 6
const three = (word: string) => Array.from({ length: 3 }, (_, i) => textOf(`m${i}`, `${word} ${i}`))

type Moved = { trace: { id: string; namespace: { slug: string } } & Record<string, unknown> }
const move = ({ ask }: Person, externalId: string, from: string, to: string) =>
  ask('POST', `/v1/traces/${externalId}/move?namespace=${from}`, { namespace: to })
const moved = async (who: Person, externalId: string, from: string, to: string): Promise<Moved['trace']> => {
  const { status, data, error } = await move(who, externalId, from, to)
  assert.is(status, 200, JSON.stringify(error))
  return (data as Moved).trace
}

/** A trace of a person in a namespace, with messages. */
const inNamespace = async (who: Person, slug: string, fields: object = {}, word = 'said'): Promise<NamedTrace> => {
  const externalId = randomUUID()
  const url = `/v1/traces/${externalId}`
  const { trace } = await who.send<Moved>('PUT', `${url}?namespace=${slug}`, fields)
  await who.send('POST', `${url}/messages/batch?namespace=${slug}`, { messages: three(word) })
  return { id: trace.id, externalId, url, page: `/@${slug}/${externalId}` }
}

/** What the trace is, without what names its place. */
const shown = async ({ send }: Person, { externalId }: Pick<NamedTrace, 'externalId'>, slug: string) => {
  const { trace } = await send<Moved>('GET', `/v1/traces/${externalId}?namespace=${slug}`)
  const { id: _, namespace: _n, ...fields } = trace
  const path = `/v1/traces/${externalId}/messages?namespace=${slug}&includeParts=true`
  const { messages } = await send<{ messages: Record<string, unknown>[] }>('GET', path)
  return [fields, messages.map(({ id: _, traceId: _t, revision: _r, ...message }) => message)]
}
type Entry = { type: string; text: string; movedFrom?: string; movedTo?: string }
const entries = async ({ send }: Person, path: string) => (await send<{ events: Entry[] }>('GET', path)).events
const isErased = () => until(async () => (await notedIn(database)).length === 0)

test('it is in the other namespace what it was, its history begins anew, and here it is deleted and erased', async () => {
  const word = `w${randomUUID()}`
  const one = await inNamespace(
    ada,
    ada.namespaceSlug,
    { title: 'A title', visibility: 'public', gitBranch: 'main' },
    word,
  )
  const before = await shown(ada, one, ada.namespaceSlug)
  const trace = await moved(ada, one.externalId, ada.namespaceSlug, 'acme')
  assert.equal([trace.id, trace.namespace.slug], [traceId(acme.id, one.externalId), 'acme'])
  assert.equal(await shown(ada, one, 'acme'), before)
  assert.equal(await shown(bob, one, 'acme'), before)
  const own = await entries(ada, `/v1/traces/${one.externalId}/events?namespace=acme`)
  assert.equal(
    own.map(({ type, movedFrom }) => [type, movedFrom]),
    [['HistoryErased', ada.namespaceSlug]],
  )
  assert.match(own[0]!.text, `moved the trace here from @${ada.namespaceSlug}`)
  const [last] = await entries(ada, `/v1/namespaces/${ada.namespaceSlug}/events?trace=${one.externalId}`)
  assert.equal([last!.type, last!.movedTo], ['TraceDeleted', 'acme'])
  assert.match(last!.text, /moved the trace “.*”, which had 3 messages, to @acme$/)
  await isErased()
  assert.equal(await eventsOf(node, one.id), ['TraceDeleted'])
  assert.equal(await eventsOf(node, trace.id), [
    'MessageRestated',
    'MessageRestated',
    'MessageRestated',
    'HistoryErased',
  ])
  const found = async () => (await ada.send<{ results: unknown[] }>('GET', `/v1/search?q=${word}`)).results.length
  await until(async () => (await found()) === 1)
  const used = async (slug: string) => {
    const period = 'from=2023-11-01T00:00:00Z&to=2023-12-01T00:00:00Z'
    return JSON.stringify(await ada.send('GET', `/v1/namespaces/${slug}/usage?${period}`)).includes('"inputTokens":30')
  }
  assert.equal([await used('acme'), await used(ada.namespaceSlug)], [true, false])
  await equalAfterRebuild(database, node)
  assert.equal(await shown(ada, one, 'acme'), before)
})

test('its old address leads those to it who may read it there, and is nothing to others', async () => {
  const one = await inNamespace(bob, 'acme')
  await moved(bob, one.externalId, 'acme', 'beta')
  const where = async (who: Person, url: string) => {
    const { statusCode, headers } = await who.open(url)
    return [statusCode, headers.location, headers['cache-control']]
  }
  const api = `${one.url}?namespace=acme&x=1`
  for (const who of [ada, bob]) {
    assert.equal(await where(who, one.page), [308, `/@beta/${one.externalId}`, 'no-store'])
    assert.equal(await where(who, `${one.page}/-/changes?x=1`), [
      308,
      `/@beta/${one.externalId}/-/changes?x=1`,
      'no-store',
    ])
    assert.equal((await where(who, api)).slice(0, 2), [308, `${one.url}?namespace=beta&x=1`])
    for (const path of ['messages?', 'children?', 'events?', 'export?format=json&'])
      assert.is((await where(who, `${one.url}/${path}namespace=acme`))[0], 308, path)
  }
  for (const who of [cleo, dan]) {
    assert.is((await where(who, one.page))[0], 404)
    assert.is((await where(who, api))[0], 404)
  }
  const nobody = callerOf(node)
  assert.is((await nobody.open(one.page)).statusCode, 404)
  await ada.send('PATCH', `${one.url}?namespace=beta`, { visibility: 'public' })
  assert.is((await nobody.open(one.page)).headers.location, `/@beta/${one.externalId}`)
  await moved(bob, one.externalId, 'beta', bob.namespaceSlug)
  assert.is((await cleo.open(one.page)).headers.location, `/@${bob.namespaceSlug}/${one.externalId}`)
  await moved(bob, one.externalId, bob.namespaceSlug, 'acme')
  assert.is((await bob.ask('GET', `${one.url}?namespace=acme`)).status, 200)
  assert.is((await bob.open(`/@beta/${one.externalId}`)).headers.location, one.page)
})

test('who may write to it may move it to a namespace of theirs, and nobody else', async () => {
  const one = await inNamespace(bob, 'acme')
  const formerly = await signIn(node)
  await ada.admit('acme', formerly)
  await ada.send('DELETE', `/v1/namespaces/acme/members/${formerly.userId}`)
  assert.is((await move(dan, one.externalId, 'acme', dan.namespaceSlug)).status, 404)
  assert.is((await move(formerly, one.externalId, 'acme', formerly.namespaceSlug)).status, 404)
  assert.is((await move(cleo, one.externalId, 'acme', cleo.namespaceSlug)).status, 403)
  assert.is((await move(bob, one.externalId, 'acme', dan.namespaceSlug)).status, 404)
  assert.is((await move(bob, one.externalId, 'acme', 'no-such')).status, 404)
  assert.is((await callerOf(node).ask('POST', `${one.url}/move`, { namespace: 'acme' })).status, 401)
  assert.is((await bob.ask('POST', `${one.url}/move?namespace=acme`, {})).status, 400)
  const before = await shown(bob, one, 'acme')
  assert.is((await moved(ada, one.externalId, 'acme', 'beta')).createdBy, bob.userId)
  assert.equal(await shown(bob, one, 'beta'), before)
  assert.is((await moved(ada, one.externalId, 'beta', 'beta')).id, traceId(beta.id, one.externalId))
})

test('where its externalId is taken nothing is moved, of its sub-agents neither', async () => {
  const parent = await inNamespace(bob, 'acme')
  const child = await inNamespace(bob, 'acme', { parentExternalId: parent.externalId })
  await bob.send('PUT', `${child.url}?namespace=beta`, { title: 'another' })
  const { status, error } = await move(bob, parent.externalId, 'acme', 'beta')
  assert.equal([status, error.code], [409, 'exists'])
  assert.match(error.message, child.externalId)
  for (const one of [parent, child]) assert.is((await bob.ask('GET', `${one.url}?namespace=acme`)).status, 200)
  assert.is((await bob.ask('GET', `${parent.url}?namespace=beta`)).status, 404)
})

test('its sub-agents move along, but for those of others, and forks stay', async () => {
  const parent = await inNamespace(bob, 'acme')
  const child = await inNamespace(bob, 'acme', { parentExternalId: parent.externalId })
  const grandchild = await inNamespace(bob, 'acme', { parentExternalId: child.externalId, parentKind: 'call' })
  const fork = await inNamespace(bob, 'acme', { parentExternalId: parent.externalId, parentKind: 'fork' })
  const others = await inNamespace(cleo, 'acme', { parentExternalId: parent.externalId })
  await bob.send('PATCH', `${parent.url}?namespace=acme`, { parentExternalId: grandchild.externalId })
  await moved(bob, parent.externalId, 'acme', 'beta')
  for (const one of [parent, child, grandchild])
    assert.is((await bob.send<Moved>('GET', `${one.url}?namespace=beta`)).trace.namespace.slug, 'beta')
  for (const one of [fork, others]) assert.is((await bob.ask('GET', `${one.url}?namespace=beta`)).status, 404)
})

test('a client that uploads to its old place is told where it is, if it may know', async () => {
  const one = await inNamespace(ada, 'acme')
  await moved(ada, one.externalId, 'acme', ada.namespaceSlug)
  const put = async (who: Person) => {
    const { status, error } = await who.ask('PUT', `${one.url}?namespace=acme&unlessDeleted=true`, {})
    return [status, (error as unknown as { details: { movedTo?: string } }).details.movedTo]
  }
  assert.equal(await put(ada), [410, ada.namespaceSlug])
  assert.equal(await put(bob), [410, undefined])
})

test('a move that died is completed by a repetition, whatever it has left', async () => {
  const one = await inNamespace(bob, 'acme')
  const before = await shown(bob, one, 'acme')
  const there = traceId(beta.id, one.externalId)
  const { traces, visible } = node.service
  const movedFrom = { namespaceId: acme.id, slug: 'acme', deletions: 0 }
  const decide = arrive({ externalId: one.externalId, namespaceId: beta.id, createdBy: bob.userId, movedFrom })
  const { position } = await traces.transact(there, { decide, answer: () => {} }, { actor: { userId: bob.userId } })
  await visible(position)
  for (const path of ['', '/messages', '/events', '/events/0'])
    assert.is((await bob.ask('GET', `${one.url}${path}?namespace=beta`)).status, 404, path)
  const taken = await cleo.ask('PUT', `${one.url}?namespace=acme`, {})
  assert.is(taken.status, 403)
  assert.is((await bob.ask('PUT', `${one.url}?namespace=beta`, {})).status, 409)
  await bob.send('POST', `${one.url}/messages/batch?namespace=acme`, { messages: [textOf('m3', 'since')] })
  await moved(bob, one.externalId, 'acme', 'beta')
  const [fields4, messages] = await shown(bob, one, 'beta')
  assert.equal([(fields4 as { messageCount: number }).messageCount, (messages as unknown[]).length], [4, 4])
  assert.equal((messages as unknown[]).slice(0, 3), before[1])
  await isErased()
  await equalAfterRebuild(database, node)
})

test('a large trace with writes on another node loses none of them', async () => {
  const other = await openNode({ env: { ROLES: 'api,projector' } })
  const one = await inNamespace(bob, 'acme')
  const long = 'ab'.repeat(450_000)
  for (let i = 0; i < LARGE; i++)
    await bob.send('POST', `${one.url}/messages/batch?namespace=acme`, { messages: [textOf(`l${i}`, long)] })
  const there = callerOf(other, bob.token)
  const written = 20
  const writing = (async () => {
    for (let i = 0; i < written; i++) {
      const body = { messages: [textOf(`w${i}`, `words ${i}`)] }
      // The session is asked for by its present place, as a client does that has learnt it.
      await until(async () => {
        for (const slug of ['acme', 'beta'])
          if ((await there.ask('POST', `${one.url}/messages/batch?namespace=${slug}`, body)).status === 200) return true
        return false
      })
    }
  })()
  await until(async () => (await move(bob, one.externalId, 'acme', 'beta')).status === 200)
  await writing
  await node.service.visible(await node.service.log.head())
  const [, messages] = await shown(bob, one, 'beta')
  const ids = (messages as { externalId: string }[]).map(({ externalId }) => externalId)
  assert.equal(ids.filter((id) => id.startsWith('w')).sort(), Array.from({ length: written }, (_, i) => `w${i}`).sort())
  assert.is(ids.length, 3 + LARGE + written)
  await isErased()
  assert.equal(await eventsOf(node, one.id), ['TraceDeleted'])
})

const statusOf = async (who: Person, { externalId }: Pick<NamedTrace, 'externalId'>, slug: string) =>
  (await who.ask('GET', `/v1/traces/${externalId}?namespace=${slug}`)).status
/** A trace of this name, which others may have elsewhere. */
const named = async (who: Person, externalId: string, slug: string, word: string) => {
  const url = `/v1/traces/${externalId}`
  await who.send('PUT', `${url}?namespace=${slug}`, {})
  await who.send('POST', `${url}/messages/batch?namespace=${slug}`, { messages: three(word) })
}

test('another trace of the same name does not take the place of one that was moved there, nor does a later life of it', async () => {
  const one = await inNamespace(bob, 'acme', {}, 'of bob')
  await moved(bob, one.externalId, 'acme', 'beta')
  const before = await shown(bob, one, 'beta')
  await ada.admit('beta', cleo)
  await named(cleo, one.externalId, 'acme', 'of cleo')
  assert.is((await move(cleo, one.externalId, 'acme', 'beta')).error.code, 'exists')
  await cleo.send('DELETE', `${one.url}?namespace=acme`)
  await bob.send('PUT', `${one.url}?namespace=acme`, {})
  assert.is((await move(bob, one.externalId, 'acme', 'beta')).error.code, 'exists')
  assert.equal(await shown(bob, one, 'beta'), before)
  await ada.send('DELETE', `/v1/namespaces/beta/members/${cleo.userId}`)
})

test('who loses the right while the move waits for its turn moves nothing, neither out nor in', async () => {
  const eve = await signIn(node)
  await ada.admit('acme', eve)
  const [out, into] = [await inNamespace(eve, 'acme'), await inNamespace(eve, eve.namespaceSlug)]
  const large = await inNamespace(ada, 'acme')
  for (let i = 0; i < 4; i++)
    await ada.send('POST', `${large.url}/messages/batch?namespace=acme`, {
      messages: [textOf(`l${i}`, 'ab'.repeat(450_000))],
    })
  const first = moved(ada, large.externalId, 'acme', 'beta')
  const waiting = [
    move(eve, out.externalId, 'acme', eve.namespaceSlug),
    move(eve, into.externalId, eve.namespaceSlug, 'acme'),
  ]
  await ada.send('DELETE', `/v1/namespaces/acme/members/${eve.userId}`)
  await first
  for (const { status } of await Promise.all(waiting)) assert.is(status, 404)
  assert.equal([await statusOf(ada, out, 'acme'), await statusOf(ada, into, 'acme')], [200, 404])
  assert.equal([await statusOf(eve, out, eve.namespaceSlug), await statusOf(eve, into, eve.namespaceSlug)], [404, 200])
})

test('on two nodes a deletion leaves nothing there, and two moves leave one trace', async () => {
  const other = await openNode({ env: { ROLES: 'api,projector' } })
  const there = callerOf(other, bob.token)
  for (let i = 0; i < 12; i++) {
    const one = await inNamespace(bob, 'acme')
    await other.service.visible(await node.service.log.head())
    const moving = move(bob, one.externalId, 'acme', 'beta')
    const moves = i % 2 === 0
    const [body, path] = moves ? [{ namespace: bob.namespaceSlug }, '/move'] : [undefined, '']
    const second = await there.ask(moves ? 'POST' : 'DELETE', `${one.url}${path}?namespace=acme`, body)
    const { status } = await moving
    await node.service.visible(await node.service.log.head())
    const found = await Promise.all(
      ['acme', 'beta', bob.namespaceSlug].map((slug) => bob.ask('GET', `${one.url}?namespace=${slug}`)),
    )
    const count = found.filter((answer) => answer.status === 200).length
    assert.is(count, !moves && second.status === 200 ? 0 : 1, `${i}: ${status}, ${second.status}`)
  }
})

test('a move that fails in the middle leaves nothing of the trace there, for nobody', async () => {
  const secret = `w${randomUUID()}`
  const one = await inNamespace(bob, 'acme', { title: secret })
  for (let i = 0; i < LARGE; i++)
    await bob.send('POST', `${one.url}/messages/batch?namespace=acme`, {
      messages: [textOf(`l${i}`, `${secret} ${'ab'.repeat(450_000)}`)],
    })
  const there = traceId(beta.id, one.externalId)
  const { log } = node.service
  const { append } = log
  let appends = 0
  log.append = (stream, ...rest) => {
    if (stream === `trace-${there}` && ++appends === 3) return Promise.reject(new Error('it died'))
    return append.call(log, stream, ...rest)
  }
  assert.is((await move(bob, one.externalId, 'acme', 'beta')).status, 500)
  log.append = append
  assert.equal([await statusOf(bob, one, 'acme'), await statusOf(bob, one, 'beta')], [200, 404])
  await isErased()
  assert.equal(await eventsOf(node, there), ['TraceDeleted'])
  assert.is((await bob.ask('PUT', `${one.url}?namespace=beta&unlessDeleted=true`, {})).status, 200)
  await bob.send('DELETE', `${one.url}?namespace=beta`)
  await moved(bob, one.externalId, 'acme', 'beta')
  await isErased()
  await equalAfterRebuild(database, node)
})

test('a trace that is deleted after a move of it has died at the end is deleted there, too, unless others have written there', async () => {
  for (const [isWrittenTo, expected] of [
    [false, 404],
    [true, 200],
  ] as const) {
    const one = await inNamespace(bob, 'acme')
    const { log } = node.service
    const { append } = log
    log.append = (stream, expected, events) =>
      stream === `trace-${one.id}` && events[0]!.type === 'TraceDeleted'
        ? Promise.reject(new Error('it died'))
        : append.call(log, stream, expected, events)
    assert.is((await move(bob, one.externalId, 'acme', 'beta')).status, 500)
    log.append = append
    assert.equal([await statusOf(bob, one, 'acme'), await statusOf(bob, one, 'beta')], [200, 200])
    if (isWrittenTo) await ada.send('PATCH', `${one.url}?namespace=beta`, { title: 'by ada' })
    await bob.send('DELETE', `${one.url}?namespace=acme`)
    assert.equal([await statusOf(bob, one, 'acme'), await statusOf(bob, one, 'beta')], [404, expected])
  }
})

test('what a move that died has left is taken back after some minutes', async () => {
  const one = await inNamespace(bob, 'acme')
  const { traces, reads, assertWritable, visible } = node.service
  const there = traceId(beta.id, one.externalId)
  const movedFrom = { namespaceId: acme.id, slug: 'acme', deletions: 0 }
  const decide = arrive({ externalId: one.externalId, namespaceId: beta.id, createdBy: bob.userId, movedFrom })
  await visible((await traces.transact(there, { decide, answer: () => {} }, {})).position)
  const withdrawAt = (now: number) => withdrawStale({ reads, traces, assertWritable, now: () => now })
  await withdrawAt(Date.now() + 60_000)
  assert.is((await bob.ask('PUT', `${one.url}?namespace=beta`, {})).status, 409)
  await withdrawAt(Date.now() + 11 * 60_000)
  await visible(await node.service.log.head())
  assert.is((await bob.ask('PUT', `${one.url}?namespace=beta`, {})).status, 200)
})

test('a trace that the other namespace would delete at once for its age does not move there', async () => {
  const late = await openNode({ now: () => Date.now() + 40 * 86_400_000, env: { ROLES: 'api,projector' } })
  const one = await inNamespace(ada, 'acme')
  const team = await ada.newTeam()
  await ada.send('PATCH', `/v1/namespaces/${team.slug}`, { retentionDays: 30 })
  await late.service.visible(await node.service.log.head())
  const { status, error } = await callerOf(late, ada.token).ask('POST', `${one.url}/move?namespace=acme`, {
    namespace: team.slug,
  })
  assert.is(status, 400)
  assert.match(error.message, 'have not changed for 30 days')
  assert.is(await statusOf(ada, one, 'acme'), 200)
})

test('a namespace that is full takes no more', async () => {
  const full = await openNode({ env: { QUOTA_TRACES: '2', QUOTA_BYTES: '4000' } })
  const eve = await signIn(full)
  const team = await eve.newTeam()
  const parent = await inNamespace(eve, eve.namespaceSlug, {}, 'long '.repeat(60))
  const child = randomUUID()
  const childUrl = `/v1/traces/${child}?namespace=${eve.namespaceSlug}`
  await eve.send('PUT', childUrl, { parentExternalId: parent.externalId })
  const refused = async () => {
    const { status, error } = await eve.ask('POST', `${parent.url}/move?namespace=${eve.namespaceSlug}`, {
      namespace: team.slug,
    })
    assert.equal([status, error.code], [403, 'quota_exceeded'])
    for (const url of [`${parent.url}?namespace=${eve.namespaceSlug}`, childUrl])
      assert.is((await eve.ask('GET', url)).status, 200)
  }
  const held = randomUUID()
  await eve.send('PUT', `/v1/traces/${held}?namespace=${team.slug}`, {})
  await refused()
  await eve.send('DELETE', `/v1/traces/${held}?namespace=${team.slug}`)
  await eve.send('PUT', `/v1/traces/${held}?namespace=${team.slug}`, {})
  await eve.send('DELETE', childUrl)
  await eve.send('POST', `/v1/traces/${held}/messages/batch?namespace=${team.slug}`, {
    messages: three('long '.repeat(60)),
  })
  const { status, error } = await eve.ask('POST', `${parent.url}/move?namespace=${eve.namespaceSlug}`, {
    namespace: team.slug,
  })
  assert.equal([status, error.code], [403, 'quota_exceeded'])
  assert.is((await eve.ask('GET', `${parent.url}?namespace=${team.slug}`)).status, 404)
})

test.run()
