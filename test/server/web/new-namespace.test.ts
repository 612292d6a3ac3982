import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openWorld, signIn } from '../../support/world.ts'
import { FOREIGN, browserOf } from '../../support/form-browser.ts'

const test = suite('web: a new namespace')
const { node } = await openWorld(test)

const ada = await signIn(node)
await ada.newTeam('taken-by-a-team')
const browser = browserOf(node, ada.token)
const slugsOf = async () =>
  (await ada.send<{ namespaces: { slug: string }[] }>('GET', '/v1/namespaces')).namespaces.map(({ slug }) => slug)

test('is made for who is signed in, and its members come next', async () => {
  assert.is((await browser.open('/new')).statusCode, 200)
  const { statusCode, headers } = await browser.post('/new', { displayName: ' The Parsers ', slug: ' Parsers ' })
  assert.equal([statusCode, headers.location], [303, '/@parsers/-/members?saved=created'])
  const { body } = await browser.open('/@parsers/-/members?saved=created')
  assert.match(body, 'The namespace is made.')
  assert.match((await browser.open('/@parsers')).body, 'The Parsers')
})

test('asks others to sign in, and takes no form of another site', async () => {
  const nobody = browserOf(node, undefined)
  const fields = { displayName: 'Eve', slug: 'eve' }
  assert.equal(
    [
      (await nobody.open('/new')).statusCode,
      (await nobody.open('/new/slug?slug=eve')).statusCode,
      (await nobody.post('/new', fields)).statusCode,
      (await browser.post('/new', fields, FOREIGN)).statusCode,
    ],
    [401, 401, 401, 403],
  )
  assert.not.ok((await slugsOf()).includes('eve'))
})

const problems = [
  ['taken-by-a-team', '@taken-by-a-team is taken: choose another one.'],
  ['admin', '@admin is reserved: choose another one.'],
  ['two--hyphens', '@two--hyphens must be 1 to 64 letters and digits, with single hyphens between them.'],
  ['<b>', '@<b> must be 1 to 64 letters and digits, with single hyphens between them.'],
] as const

for (const [slug, problem] of problems)
  test(`says what is wrong with @${slug} while it is typed and when it is sent, and keeps what was typed`, async () => {
    const checked = await browser.open(`/new/slug?slug=${encodeURIComponent(slug)}`)
    assert.equal([checked.statusCode, checked.body], [200, problem])
    assert.match(String(checked.headers['content-type']), 'text/plain')
    const { statusCode, body } = await browser.post('/new', { displayName: 'A name', slug })
    assert.is(statusCode, 400)
    const escape = (text: string) => text.replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    for (const text of [escape(problem), `value="${escape(slug)}"`, 'value="A name"']) assert.match(body, text)
  })

test('a slug that nothing speaks against is free', async () => {
  assert.is((await browser.open('/new/slug?slug=Nobody-Has-It')).body, '')
})

test('a name is needed, and a slug that is wrong too is said at once', async () => {
  const { statusCode, body } = await browser.post('/new', { displayName: ' ', slug: 'admin' })
  assert.is(statusCode, 400)
  assert.match(body, 'A namespace needs a name.')
  assert.match(body, '@admin is reserved')
  assert.match((await browser.post('/new', { displayName: 'x'.repeat(300), slug: 'long' })).body, 'longer than 256')
})

test('of two who want one slug at once one gets it, and the other keeps what was typed', async () => {
  const bob = browserOf(node, (await signIn(node)).token)
  const answers = await Promise.all(
    [browser, bob].map((one) => one.post('/new', { displayName: 'Race', slug: 'the-race' })),
  )
  assert.equal(answers.map(({ statusCode }) => statusCode).sort(), [303, 400])
  assert.match(answers.find(({ statusCode }) => statusCode === 400)!.body, '@the-race is taken')
})

test.run()
