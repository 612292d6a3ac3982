import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { callerOf, signIn } from '../../support/world.ts'
import { indexed, openSearch } from '../search/support/open-search.ts'
import { elementsOf, textOf } from '../../transcript/support/elements.ts'

const test = suite('web: the page of a search')

const { app, token, send, write } = await openSearch(test)

const page = async (path: string, as?: string) => {
  await indexed(app)
  const { statusCode, body } = await callerOf(app, as).open(path)
  return { status: statusCode, body, text: textOf(elementsOf(body)[0]!).replace(/\s+/g, ' ') }
}
const linksIn = (body: string) =>
  elementsOf(body).flatMap(({ tagName, attrs }) =>
    tagName === 'a' ? attrs.filter(({ name }) => name === 'href').map(({ value }) => value) : [],
  )

test('hits are listed under their session, with the words marked and a link to the message', async () => {
  await write('found', ['where is the <b>needle</b>?'], { title: 'A haystack' })
  const { status, body, text } = await page('/search?q=needle', token)
  assert.is(status, 200)
  assert.match(text, /1 place in 1 session\. Indexed through \d\d:\d\d/)
  assert.match(body, 'where is the &lt;b&gt;<mark>needle</mark>&lt;/b&gt;?')
  assert.match(linksIn(body).join(' '), /\/@[\w-]+\/found\?m=m0 /)
  assert.match(
    body,
    'name="q" type="search" placeholder="Search sessions" maxlength="400" autocomplete="off" value="needle">',
  )
})

test('a viewer finds nothing that only others may read', async () => {
  await write('secret', ['the password is swordfish'], { title: 'Of swordfish' })
  const { token: stranger } = await signIn(app)
  for (const as of [undefined, stranger]) {
    const { status, body } = await page('/search?q=swordfish', as)
    assert.equal([status, body.includes('password'), body.includes('/secret')], [200, false, false])
    assert.match(body, 'Nothing for')
  }
  await send('PUT', '/v1/traces/secret', { visibility: 'public' })
  assert.match((await page('/search?q=swordfish')).body, 'Of <mark>swordfish</mark>')
})

test('a hit in a sub-agent names the session that started it, to those who may read that one', async () => {
  await write('of-nobody', ['a pincushion'], { title: 'By itself', parentExternalId: 'not-here', visibility: 'public' })
  await write('starter', ['look for it'], { title: 'The starter' })
  await write('helper', ['a pincushion'], { parentExternalId: 'starter', visibility: 'public' })
  const named = async (as?: string) =>
    [
      ...(await page('/search?q=pincushion', as)).body.matchAll(
        /sub-agent of <a href="[^"]+\/starter"><bdi>The starter</g,
      ),
    ].length
  assert.equal([await named(token), await named(), await named((await signIn(app)).token)], [1, 0, 0])
  await send('PUT', '/v1/traces/starter', { visibility: 'public' })
  assert.is(await named(), 1)
})

test('each field of the query is a link to the query without it, and other fields are offered', async () => {
  const { body } = await page(`/search?q=${encodeURIComponent('a has:error  "b c"')}`, token)
  const links = linksIn(body)
  assert.ok(links.includes(`/search?${new URLSearchParams({ q: 'a "b c"' }).toString()}`))
  assert.ok(links.includes(`/search?${new URLSearchParams({ q: 'a has:error  "b c" in:prompt' }).toString()}`))
  assert.not(links.some((link) => link.includes('has%3Aerror+has%3Aerror')))
})

test('values of several sessions are links that narrow the search', async () => {
  await write('of-one', ['a thimble'], { agentId: 'agent one' })
  await write('of-two', ['a thimble'], { agentId: 'two' })
  const { body } = await page('/search?q=thimble', token)
  assert.ok(linksIn(body).includes(`/search?${new URLSearchParams({ q: 'thimble agent:"agent one"' }).toString()}`))
})

test('where nothing is found, looser searches are offered that find something', async () => {
  await write('offered-1', ['the getUserName of a marmoset'])
  await write('offered-2', [{ role: 'user', timestamp: Date.UTC(2026, 0, 1), textContent: 'a marmoset, and others' }])
  const offers = async (q: string) => {
    const { body } = await page(`/search?q=${encodeURIComponent(q)}`, token)
    return elementsOf(body)
      .filter(
        ({ tagName, parentNode }) =>
          tagName === 'li' && 'attrs' in parentNode! && parentNode.attrs.some(({ value }) => value === 'offers'),
      )
      .map((one) => textOf(one))
  }
  assert.equal(await offers('"a others" marmoset'), [
    'Without quotation marks 1 session',
    'Without "a others" 2 sessions',
  ])
  assert.equal(await offers('marmoset has:error to:2026-01-01'), [
    'Without has:error 1 session',
    'Only the words marmoset 2 sessions',
  ])
  assert.equal(await offers('marmoset others since:2026-01-02'), [
    'At any time, without since:2026-01-02 1 session',
    'Without others 1 session',
  ])
  assert.equal(await offers('marmosets'), ['In other forms: marmosets OR marmoset 2 sessions'])
  assert.equal(await offers('getUserMarmoset'), ['In parts: get user marmoset 1 session'])
  assert.equal(await offers('marmoset -getUserName -others'), [
    'Without -getUserName 1 session',
    'Without -others 1 session',
    'Only the words marmoset 2 sessions',
  ])
  assert.equal(await offers('nowhere has:error'), [])
})

test('the first hits are a list for scripts, with how many there are in words', async () => {
  await write('listed', ['where is the <b>thicket</b>?'], { title: 'A <i>wood</i>' })
  await indexed(app)
  const hits = async (as?: string) => (await callerOf(app, as).open('/search/hits?q=thicket')).body
  assert.match(
    await hits(token),
    /^<ul data-says="1 place in 1 session\."><li data-href="\/@[\w-]+\/listed\?m=m0"><span dir="auto">A &lt;i&gt;wood/,
  )
  assert.match(await hits(token), '&lt;b&gt;<mark>thicket</mark>&lt;/b&gt;?</span></li>')
  assert.is((await hits()).trim(), '<ul data-says="0 places in 0 sessions."></ul>')
})

test('the numbers beside values say what they count', async () => {
  for (const i of [1, 2])
    await write(`counted-${i}`, ['a capybara'], { projectName: 'zoo', ...(i === 1 ? { agentId: 'one' } : {}) })
  const { body, text } = await page('/search?q=capybara', token)
  assert.match(text, 'Numbers of sessions, of all 2 that were found.')
  assert.match(body, 'capybara+agent%3Aone')
  assert.not.match(body, 'capybara+project%3Azoo', 'all have it')
})

test('without a query the page says how to search, and no query is invalid', async () => {
  assert.match((await page('/search')).text, 'Search what your agents did')
  for (const q of ['"', 'OR', 'in:nowhere', '%00', '<script>'])
    assert.is((await page(`/search?q=${encodeURIComponent(q)}`)).status, 200, q)
  assert.is((await page(`/search?q=${'x'.repeat(401)}`)).status, 400)
})

test('where nothing is found, a field is offered whose name was mistyped', async () => {
  const asked = 'needle autor:"Ada L"'
  const { body } = await page(`/search?q=${encodeURIComponent(asked)}`, token)
  assert.ok(linksIn(body).includes(`/search?${new URLSearchParams({ q: 'needle author:"Ada L"' }).toString()}`))
  await write('with-address', ['it listens at localhost:3000'])
  for (const q of ['localhost:3000', 'localhost:4000'])
    assert.not.match((await page(`/search?q=${q}`, token)).text, 'Do you mean', q)
})

test.run()
