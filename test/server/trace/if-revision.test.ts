import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Answer, App } from '../../support/open-app.ts'
import { runs } from '../../support/runs.ts'
import { openTwoNodes } from '../../support/two-nodes.ts'
import { signIn } from '../../support/world.ts'

/** Writes to a trace at a revision that the client expects, at two nodes. */
const test = suite('trace/ifRevision')

const { node: app, nodes, clock } = await openTwoNodes(test)

type Method = Parameters<App['call']>[0]

const ask = (node: App, method: Method, url: string, token: string, body?: object): Promise<Answer> =>
  node.call(method, url, { token, body })

const dataOf = <Data>({ status, data, error }: Answer): Data => {
  assert.is(status, 200, JSON.stringify(error))
  return data
}

const { token, namespaceSlug, newTeam } = await signIn(app)

const told = ({ status, error }: Answer) => [status, error?.code]
const detailsOf = ({ error }: Answer) => (error as unknown as { details: unknown }).details

const said = (textContent: string) => ({ role: 'user', textContent })

type Shown = { readonly revision: number; readonly messages: readonly { externalId: string; textContent: string }[] }
/** The messages of a trace, with its revision. */
const shown = async (url: string, query = '', node = app) =>
  dataOf<Shown>(await ask(node, 'GET', `${url}/messages${query}`, token))

/** A trace with a message `m`; gives its path and revision. */
const newTrace = async () => {
  const url = `/v1/traces/${randomUUID()}`
  await ask(app, 'PUT', url, token, { title: 'one' })
  const { revision } = dataOf<Shown>(await ask(app, 'PUT', `${url}/messages/m`, token, said('one')))
  return { url, revision }
}

/** The four writes that take an expected revision: each sets one text. */
const writes = {
  batch: (url: string, text: string) => [
    'POST',
    `${url}/messages/batch`,
    { messages: [{ externalId: 'm', ...said(text) }] },
  ],
  message: (url: string, text: string) => ['PUT', `${url}/messages/m`, said(text)],
  trace: (url: string, title: string) => ['PUT', url, { title }],
  patch: (url: string, title: string) => ['PATCH', url, { title }],
} satisfies Record<string, (url: string, text: string) => [Method, string, object]>

type Write = keyof typeof writes
const all = Object.keys(writes) as Write[]

const send = (which: Write, url: string, text: string, query = '', node = app) => {
  const [method, path, body] = writes[which](url, text)
  return ask(node, method, `${path}${query}`, token, body)
}

for (const which of all) {
  test(`${which}: is written at the expected revision, and refused at another one with the present one`, async () => {
    const { url, revision } = await newTrace()
    const stale = await send(which, url, 'two', `?ifRevision=${revision - 1}`)
    assert.equal([...told(stale), detailsOf(stale)], [409, 'changed', { revision }])
    assert.is((await shown(url)).revision, revision, 'nothing was written')
    const written = dataOf<Shown>(await send(which, url, 'two', `?ifRevision=${revision}`))
    assert.ok(written.revision > revision)
    assert.is((await shown(url)).revision, written.revision, 'the answer has the revision that readers see')
    const beyond = await send(which, url, 'three', `?ifRevision=${written.revision + 1}`)
    assert.equal([...told(beyond), detailsOf(beyond)], [409, 'changed', { revision: written.revision }])
  })

  test(`${which}: repeated after a lost answer is no conflict, until another client has changed the same`, async () => {
    const { url, revision } = await newTrace()
    const query = `?ifRevision=${revision}`
    await send(which, url, 'two', query)
    assert.is((await send(which, url, 'two', query)).status, 200)
    const other = dataOf<Shown>(await send(which, url, 'three', '', nodes[1]))
    const late = await send(which, url, 'two', query)
    assert.equal([...told(late), detailsOf(late)], [409, 'changed', { revision: other.revision }])
  })

  test(`${which}: a revision that is no number, or is given twice, is refused`, async () => {
    const { url } = await newTrace()
    for (const query of ['ifRevision=', 'ifRevision=x', 'ifRevision=-1', 'ifRevision=1.0', 'ifRevision=1&ifRevision=1'])
      assert.equal(told(await send(which, url, 'two', `?${query}`)), [400, 'invalid_request'], query)
    const { error } = await send(which, url, 'two', '?ifRevision=x')
    assert.ok(JSON.stringify(error).includes('ifRevision'))
  })

  test(`${which}: is compared with the trace in the named namespace`, async () => {
    const { url, revision } = await newTrace()
    await newTeam()
    const query = `?namespace=${namespaceSlug}&ifRevision=`
    assert.equal(told(await send(which, url, 'two', query + (revision - 1))), [409, 'changed'])
    assert.is((await send(which, url, 'two', query + revision)).status, 200)
    const stranger = await signIn(app)
    const [method, path, body] = writes[which](url, 'two')
    assert.is((await app.call(method, `${path}${query}0`, { token: stranger.token, body })).status, 404)
  })
}

test('each answer to a write has the revision of the last event of the trace', async () => {
  const url = `/v1/traces/${randomUUID()}`
  const written: number[] = []
  const note = async (answer: Promise<Answer>) => written.push(dataOf<Shown>(await answer).revision)
  await note(ask(app, 'POST', '/v1/traces', token, { externalId: url.slice('/v1/traces/'.length) }))
  assert.is((await shown(url)).revision, written[0])
  for (const which of all) {
    await note(send(which, url, 'two'))
    assert.is((await shown(url)).revision, written.at(-1), which)
  }
  for (const which of ['batch', 'message'] as const) {
    await note(send(which, url, 'two'))
    assert.is(written.at(-1), written.at(-2), 'nothing was changed')
  }
  await note(ask(app, 'POST', `${url}/history/erase`, token, {}))
  assert.is((await shown(url)).revision, written.at(-1))
  await note(ask(app, 'DELETE', url, token))
  await note(ask(app, 'PUT', url, token, {}))
  assert.is((await shown(url)).revision, written.at(-1))
  assert.equal(
    written.toSorted((a, b) => a - b),
    written,
  )
})

test('a trace that does not exist counts as revision 0: one client creates it, and a slower one writes nothing', async () => {
  const url = `/v1/traces/${randomUUID()}`
  for (const which of ['batch', 'message', 'patch'] as const)
    assert.equal(told(await send(which, url, 'two', '?ifRevision=0')), [404, 'not_found'])
  const early = await send('trace', url, 'one', '?ifRevision=3')
  assert.equal([...told(early), detailsOf(early)], [409, 'changed', { revision: 0 }])
  assert.is((await ask(app, 'GET', url, token)).status, 404)
  const { revision } = dataOf<Shown>(await send('trace', url, 'one', '?ifRevision=0'))
  assert.is((await send('trace', url, 'one', '?ifRevision=0')).status, 200, 'repeated')
  await send('message', url, 'one')
  assert.equal(told(await send('trace', url, 'two', '?ifRevision=0', nodes[1])), [409, 'changed'])

  await ask(app, 'DELETE', url, token)
  assert.equal(told(await send('trace', url, 'one', `?ifRevision=${revision}&unlessDeleted=true`)), [410, 'deleted'])
  assert.equal(told(await send('trace', url, 'one', '?ifRevision=9')), [409, 'changed'])
  const again = dataOf<Shown>(await send('trace', url, 'one', '?ifRevision=0'))
  assert.ok(again.revision > revision)
  assert.equal(told(await send('batch', url, 'two', `?ifRevision=${revision}`)), [409, 'changed'])
  assert.is((await send('batch', url, 'two', `?ifRevision=${again.revision}`)).status, 200)
})

test('after an erasure of the past a client with an earlier revision is told, and gets everything', async () => {
  const { url, revision } = await newTrace()
  await ask(app, 'POST', `${url}/history/erase`, token, {})
  assert.equal(told(await send('batch', url, 'two', `?ifRevision=${revision}`)), [409, 'changed'])
  const changed = await shown(url, `?changedSince=${revision}`)
  assert.equal(changed.messages.length, 1)
  assert.is((await send('batch', url, 'two', `?ifRevision=${changed.revision}`)).status, 200)
})

type Mark = { readonly node: 0 | 1; readonly which: 'batch' | 'message'; readonly loses: boolean }

/** Adds a mark to the text of message `m`, as a client that may lose the answer to a write, and then repeats it. */
const add = async (url: string, mark: string, { node: at, which, loses }: Mark) => {
  const node = nodes[at]
  for (;;) {
    const { revision, messages } = await shown(url, '', node)
    const text = messages[0]!.textContent
    if (text.includes(mark)) return
    const query = `?ifRevision=${revision}`
    const answer = await send(which, url, text + mark, query, node)
    if (answer.status === 200 && loses) await send(which, url, text + mark, query, node)
    if (answer.status === 200) return
    assert.equal(told(answer), [409, 'changed'])
  }
}

test('clients that read, change and write one message at the same time lose nothing', async () => {
  const marks = fc.array(
    fc.record({
      node: fc.constantFrom(0 as const, 1 as const),
      which: fc.constantFrom('batch' as const, 'message' as const),
      loses: fc.boolean(),
    }),
    { minLength: 2, maxLength: 12 },
  )
  await fc.assert(
    fc.asyncProperty(marks, async (clients) => {
      clock.now += 1
      const { url } = await newTrace()
      await Promise.all(clients.map((client, i) => add(url, `<${i}>`, client)))
      const { textContent } = (await shown(url)).messages[0]!
      assert.equal(textContent.match(/<\d+>/g)!.toSorted(), clients.map((_, i) => `<${i}>`).toSorted())
    }),
    { numRuns: runs(8) },
  )
})

test.run()
