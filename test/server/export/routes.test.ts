import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { callerOf, openWorld, signIn } from '../../support/world.ts'
import { listen, openSlowReader } from '../../support/slow-reader.ts'
import { session } from '../../transcript/support/session.ts'

const test = suite('export: routes')
const formats = ['json', 'md', 'html'] as const

const { node } = await openWorld(test)
const port = await listen(node)

const owner = await signIn(node)
const stranger = await signIn(node)
const { send } = owner
const get = (url: string, token?: string) => callerOf(node, token).get(url)

const newTrace = async (fields: object, messages: readonly object[] = session((place) => `the ${place}`)) =>
  (await owner.newTrace(fields, messages)).url

test('a JSON export has the same bytes as the answers of the routes', async () => {
  const url = await newTrace({ title: 'T', visibility: 'private' })
  const answer = await get(`${url}/export?format=json`, owner.token)
  assert.is(answer.statusCode, 200)
  const trace = (await get(url, owner.token)).body
  const list = (await get(`${url}/messages?includeParts=true`, owner.token)).body
  const traceText = trace.slice('{"ok":true,"data":{"trace":'.length, -2)
  const messagesText = list.slice('{"ok":true,"data":{"messages":'.length, list.lastIndexOf(',"revision"'))
  assert.is(answer.body, `{"trace":${traceText},"messages":${messagesText}}`)
})

test('a past moment is exported for members only, as the trace was then', async () => {
  const url = await newTrace({ title: 'Before', visibility: 'public' })
  const [before, { revision }] = [
    (await get(`${url}/export?format=json`, owner.token)).body,
    (await get(`${url}/messages?limit=0`, owner.token)).json().data as { revision: number },
  ]
  await send('PATCH', url, { title: 'After' })
  await send('PUT', `${url}/messages/added-later`, { role: 'user', textContent: 'the last word' })
  for (const format of formats) {
    const { statusCode, body } = await get(`${url}/export?format=${format}&revision=${revision}`, owner.token)
    assert.equal([statusCode, /Before/.test(body), /After|the last word/.test(body)], [200, true, false])
    assert.is((await get(`${url}/export?format=${format}&revision=${revision}`, stranger.token)).statusCode, 403)
    assert.is((await get(`${url}/export?format=${format}&revision=${revision}`)).statusCode, 401)
  }
  assert.is((await get(`${url}/export?format=json&revision=${revision}`, owner.token)).body, before)
  assert.is((await get(`${url}/export?format=json&revision=9999`, owner.token)).statusCode, 404)
})

test('a trace without messages can be exported', async () => {
  const url = await newTrace({ title: 'Empty' }, [])
  for (const format of formats) assert.is((await get(`${url}/export?format=${format}`, owner.token)).statusCode, 200)
  assert.equal((await get(`${url}/export?format=json`, owner.token)).json().messages, [])
})

test('an export is an attachment named after the title, whose headers let no script run', async () => {
  const url = await newTrace({ title: '../Über "alles"\r\nx-evil: 1' })
  const types = { json: 'application/json', md: 'text/markdown', html: 'text/html' }
  for (const format of formats) {
    const { headers } = await get(`${url}/export?format=${format}`, owner.token)
    assert.is(headers['content-type'], `${types[format]}; charset=utf-8`)
    assert.is(
      headers['content-disposition'],
      `attachment; filename="Uber alles x-evil 1.${format}"; filename*=UTF-8''%C3%9Cber%20alles%20x-evil%201.${format}`,
    )
    assert.match(String(headers['content-security-policy']), /^sandbox; default-src 'none'/)
    assert.is(headers['x-content-type-options'], 'nosniff')
    assert.is(headers['x-evil'], undefined)
  }
})

test('callers who may read a trace may export it', async () => {
  for (const [visibility, expected] of [
    ['public', [200, 200, 200]],
    ['private', [200, 404, 401]],
    ['direct', [200, 404, 401]],
  ] as const) {
    const url = await newTrace({ visibility })
    for (const format of formats) {
      const path = `${url}/export?format=${format}`
      const answers = await Promise.all([get(path, owner.token), get(path, stranger.token), get(path)])
      assert.equal(
        answers.map(({ statusCode }) => statusCode),
        expected,
      )
      for (const { statusCode, headers } of answers)
        if (statusCode !== 200) assert.is(headers['content-disposition'], undefined)
    }
  }
})

test('a missing or unknown format is refused', async () => {
  const url = await newTrace({})
  for (const query of [
    '',
    '?format=',
    '?format=pdf',
    '?format=JSON',
    '?format=__proto__',
    '?format=md&format=html',
    '?format=md&revision=1&at=1',
    '?format=md&revision=one',
  ])
    assert.is((await get(`${url}/export${query}`, owner.token)).statusCode, 400, query)
})

test('an unknown or deleted trace is not found', async () => {
  const url = await newTrace({ visibility: 'public' })
  await send('DELETE', url)
  for (const format of formats)
    for (const path of [url, `/v1/traces/${randomUUID()}`])
      for (const token of [owner.token, undefined])
        assert.is((await get(`${path}/export?format=${format}`, token)).statusCode, 404)
})

test('the parameter namespace chooses among traces with the same external id', async () => {
  const [id, slug] = [randomUUID(), `team-${randomUUID().slice(0, 8)}`]
  const own = await signIn(node)
  const { token } = own
  await own.send('PUT', `/v1/traces/${id}`, { visibility: 'public', title: 'own' })
  await own.send('POST', '/v1/namespaces', { slug, displayName: 'Team' })
  await own.send('POST', '/v1/session/switch', { slug })
  await own.send('PUT', `/v1/traces/${id}`, { visibility: 'public', title: 'team' })
  const titleIn = async (namespace: string, as?: string) => {
    const answer = await get(`/v1/traces/${id}/export?format=json&namespace=${namespace}`, as)
    return answer.statusCode === 200 ? answer.json().trace.title : answer.statusCode
  }
  for (const as of [token, stranger.token, undefined]) {
    assert.is(await titleIn(own.namespaceSlug!, as), 'own')
    assert.is(await titleIn(slug.toUpperCase(), as), 'team')
    for (const none of ['no-such-namespace', 'not%20a%20slug']) assert.is(await titleIn(none, as), 404)
  }
  await own.send('PATCH', `/v1/traces/${id}`, { visibility: 'private' })
  assert.equal(await Promise.all([token, stranger.token, undefined].map((as) => titleIn(slug, as))), ['team', 404, 401])
})

const large = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    externalId: `m${i}`,
    role: 'user',
    textContent: `begin-${i} ${'x '.repeat(40 * 1_024)}end-${i}`,
  }))

test('the export of a large trace is complete', async () => {
  const url = await newTrace({}, large(150))
  for (const format of formats) {
    const { body } = await get(`${url}/export?format=${format}`, owner.token)
    for (let i = 0; i < 150; i++)
      assert.ok(body.includes(`begin-${i} x`) && body.includes(`x end-${i}`), `${format}: ${i}`)
  }
})

for (const format of formats) {
  for (const [what, end] of [
    ['deleted', (url: string) => send('DELETE', url)],
    ['no longer public', (url: string) => send('PATCH', url, { visibility: 'private' })],
  ] as const) {
    test(`${format} is cut off when its trace is ${what}`, async () => {
      const url = await newTrace({ visibility: 'public' }, large(150))
      const reader = await openSlowReader(port, `${url}/export?format=${format}`)
      await end(url)
      const { isWhole } = await reader.rest()
      assert.not(isWhole)
    })
  }
}

test.run()
