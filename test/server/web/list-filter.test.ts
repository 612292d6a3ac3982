import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Caller, callers, newTeam, standingOf } from '../../access/team.ts'
import { openWorld } from '../../support/world.ts'
import { elementsOf, textOf } from '../../transcript/support/elements.ts'

const test = suite('web: filtered lists')
const { node, openNode } = await openWorld(test, { env: { SUMMARY_PROVIDER: 'none' } })
const team = await newTeam(node, 'the-team')
const { creator, admin, slug, as } = team

await admin.send('PATCH', '/v1/user', { displayName: 'Ada "the admin" L' })
await creator.send('PATCH', '/v1/user', { displayName: 'Zoë Crée' })

const failing = {
  externalId: 'failing',
  role: 'assistant',
  parts: [
    { type: 'tool_call', content: { callId: 'c', toolName: 'Bash', args: { command: 'x' } } },
    { type: 'tool_result', content: { callId: 'c', toolName: 'Bash', output: 'Exit code 1', status: 'error' } },
  ],
}
const changing = {
  externalId: 'changing',
  role: 'assistant',
  parts: [
    {
      type: 'tool_call',
      content: { callId: 'e', toolName: 'Edit', args: { file_path: '/a', old_string: 'x', new_string: 'y' } },
    },
    { type: 'tool_result', content: { callId: 'e', toolName: 'Edit', output: 'done', status: 'success' } },
  ],
}
const said = (text: string, timestamp?: number) => ({ externalId: text, role: 'user', textContent: text, timestamp })

const DAY = 86_400_000
const sessions = [
  [creator, 'one', { agentId: 'codex', projectName: 'Shop', gitBranch: 'main', model: 'm-1' }, [said('a'), failing]],
  [creator, 'two', { agentId: 'claude-code', projectName: 'my app', model: 'm-2' }, [changing]],
  [admin, 'three', { agentId: 'claude-code', projectName: 'shop', visibility: 'public' }, [failing, changing]],
  [admin, 'four', { agentId: 'pi', projectName: 'Café', visibility: 'public' }, [said('b', Date.now() - 9 * DAY)]],
  [admin, 'five', { agentId: 'pi', projectName: 'xyzzy-secret', model: 'secret-model' }, [said('c')]],
] as const
for (const [by, id, fields, messages] of sessions) await by.newTrace({ title: `The ${id}`, ...fields }, messages, id)

const page = async (caller: Caller, path: string) => {
  const { statusCode, body } = await as(caller, 'here').open(path)
  assert.is(statusCode, 200, body)
  const titles = [...body.matchAll(/<a class="name"[^>]*>The ([^<]*)<\/a>/g)].map(([, title]) => title!)
  return { body, titles, text: textOf(elementsOf(body)[0]!).replace(/\s+/g, ' ') }
}
const filtered = (path: string, q: string, more = '') =>
  `${path}${path.includes('?') ? '&' : '?'}q=${encodeURIComponent(q)}${more}`
const titlesOf = async (q: string, path = '/', caller: Caller = 'admin') =>
  (await page(caller, filtered(path, q))).titles.sort().join()
const linksIn = (body: string) =>
  elementsOf(body).flatMap(({ tagName, attrs }) =>
    tagName === 'a' ? attrs.filter(({ name }) => name === 'href').map(({ value }) => value) : [],
  )

for (const path of ['/', `/@${slug}`])
  test(`words filter the sessions of a namespace on ${path}`, async () => {
    for (const [q, expected] of [
      ['agent:codex', 'one'],
      ['agent:CLAUDE-code', 'three,two'],
      ['agent:"claude code"', 'three,two'],
      ['agent:codex agent:pi', 'five,four,one'],
      ['project:shop', 'one,three'],
      ['project:"My App"', 'two'],
      ['project:cafe\u0301', 'four'],
      ['project:shop -agent:codex', 'three'],
      ['branch:main', 'one'],
      ['model:m-1', 'one'],
      ['author:"zoë crée"', 'one,two'],
      [`author:${admin.userId}`, 'five,four,three'],
      [`-author:${admin.userId} agent:codex`, 'one'],
      ['has:error', 'one,three'],
      ['has:changes', 'three,two'],
      ['has:error has:changes', 'three'],
      ['has:error -has:changes', 'one'],
      ['is:public agent:pi', 'four'],
      ['-is:public agent:pi', 'five'],
      ['since:7d agent:pi', 'five'],
      ['to:7d agent:pi', 'four'],
      [`namespace:${slug} agent:codex`, 'one'],
      ['namespace:other agent:codex', ''],
      ['agent:codex project:Café', ''],
    ] as const)
      assert.is(await titlesOf(q, path), expected, q)
  })

test('the other lists are filtered by the same words', async () => {
  assert.is(await titlesOf('agent:claude-code', '/?scope=mine', 'creator'), 'two')
  assert.is(await titlesOf('agent:claude-code', '/?scope=public', 'creator'), 'three')
  assert.is(await titlesOf('agent:claude-code', '/', 'nobody'), 'three')
  assert.is(await titlesOf('project:shop', `/@${slug}`, 'nobody'), 'three')
  assert.is(await titlesOf('author:"ada"', `/@${slug}`, 'nobody'), '')
  assert.is(await titlesOf(`namespace:${slug} since:7d`, '/', 'nobody'), 'three')
})

test('a list can be sorted by the last change, with and without a filter', async () => {
  await creator.send('PATCH', '/v1/traces/one', { gitRef: 'abc' })
  for (const [path, caller] of [
    ['/?', 'creator'],
    ['/?scope=mine&', 'creator'],
    [`/@${slug}?`, 'member'],
  ] as const) {
    assert.is((await page(caller, `${path}sort=updated`)).titles[0], 'one', path)
    assert.is((await page(caller, `${path}sort=updated&q=project%3Ashop`)).titles[0], 'one', path)
  }
  assert.is((await page('nobody', `/@${slug}?sort=updated`)).titles.length, 2)
  const { body } = await page('creator', '/?scope=mine&sort=updated&q=agent%3Acodex')
  assert.match(body, '<input type="hidden" name="scope" value="mine"><input type="hidden" name="sort" value="updated">')
  for (const link of ['/?scope=mine&q=agent%3Acodex', '/?scope=mine&sort=updated'])
    assert.ok(linksIn(body).includes(link), link)
})

test('what is not understood is said and left out, and nothing that was typed is lost', async () => {
  const q = 'agent:codex since:tomorow tool:Bash porject:shop words "a phrase"'
  const { text, titles, body } = await page('admin', filtered('/', q))
  assert.equal(titles, ['one'])
  for (const note of [
    'since:tomorow was left out: since: takes a day',
    'tool:Bash was left out: the field tool: is for the search only.',
    'porject:shop was left out: no field has this name. Do you mean project:shop?',
    'words was left out: words are for the search only.',
    'a phrase was left out',
  ])
    assert.match(text, note)
  assert.ok(linksIn(body).includes(`/?${new URLSearchParams({ q: q.replace('porject', 'project') }).toString()}`))
  assert.ok(linksIn(body).includes(`/search?${new URLSearchParams({ q }).toString()}`))
  assert.match(body, `value="${q.replaceAll('"', '&quot;')}"`)
})

test('a value that no session has is said, with those that may be meant', async () => {
  const { text, titles, body } = await page('admin', filtered('/', 'agent:codxe has:error'))
  assert.equal(titles, [])
  assert.match(text, 'No session here has agent:codxe. Do you mean Codex?')
  assert.match(text, 'No session matches')
  assert.ok(linksIn(body).includes(`/?${new URLSearchParams({ q: 'has:error agent:Codex' }).toString()}`))
  assert.is(await titlesOf('agent:Codex'), 'one')
  assert.match(
    (await page('admin', filtered('/', 'agent:nosuch'))).text,
    'No session here has agent:nosuch. No session',
  )
})

test('fields are links that take them away, and values on the page links that add them', async () => {
  const { body } = await page('admin', filtered('/', 'is:public has:error'))
  for (const q of ['is:public', 'has:error', 'is:public has:error has:changes', 'is:public has:error since:7d'])
    assert.ok(linksIn(body).includes(`/?${new URLSearchParams({ q }).toString()}`), q)
  const { body: all, text } = await page('admin', `/@${slug}`)
  for (const q of ['agent:pi', 'project:"my app"', 'model:m-1', 'author:"Zoë Crée"'])
    assert.ok(linksIn(all).includes(`/@${slug}?${new URLSearchParams({ q }).toString()}`), q)
  assert.match(text, /Agent.*Claude Code ?2.*Counted over the sessions on this page/)
  assert.match(text, 'This week')
  const { body: ofPi } = await page('admin', filtered(`/@${slug}`, 'agent:pi agent:codex'))
  assert.ok(linksIn(ofPi).includes(`/@${slug}?${new URLSearchParams({ q: 'agent:pi' }).toString()}`))
})

test('the page of a namespace says to its members who recorded what in the last week', async () => {
  for (const caller of callers) {
    const { body, text } = await page(caller, `/@${slug}`)
    const isMember = ['member', 'creator', 'admin'].includes(standingOf(caller))
    assert.is(/<h2>This week<\/h2>/.test(body), isMember, caller)
    if (isMember) assert.match(text, /This week.*Ada "the admin" L ?2.*Zoë Crée ?2/)
  }
  assert.is(await titlesOf(`author:${admin.userId} since:7d`, `/@${slug}`, 'member'), 'five,three')
})

test('a filter tells nobody what they may not read', async () => {
  const hidden = ['project:xyzzy-secret', 'model:secret-model', '-project:xyzzy-secret']
  for (const caller of callers) {
    const isMember = ['member', 'creator', 'admin'].includes(standingOf(caller))
    for (const path of ['/', '/?scope=mine', `/@${slug}`, `/@${slug}?sort=updated`])
      for (const q of hidden) {
        const { body } = await page(caller, filtered(path, q))
        const typed = [
          q,
          q.replace(/^-/, '').replace(':', ': '),
          encodeURIComponent(q),
          encodeURIComponent(encodeURIComponent(q)),
        ]
        const others = typed.reduce((rest, one) => rest.replaceAll(one, ''), body)
        const isShown = /The (?:five|two|one)|xyzzy-secret|secret-model/.test(others)
        if (!isMember) assert.not(isShown, `${caller} ${path} ${q}`)
      }
    if (isMember) assert.is(await titlesOf('project:xyzzy-secret', `/@${slug}`, caller), 'five')
  }
  const asked = (q: string) => filtered(`/@${slug}`, q)
  for (const caller of ['nobody', 'stranger', 'former'] as const) {
    const same = async (q: string) =>
      (await page(caller, asked(q))).body.replaceAll(/x[a-z]{4}-[a-z]+| data-now="\d+"/g, '')
    assert.is(await same('project:xyzzy-secret'), await same('project:xnone-atall'), caller)
  }
})

test('readers without a session filter as often as they search', async () => {
  const { app } = await openNode({ env: { RATE_LIMITS: 'on', RATE_LIMIT_SEARCHES: '2' } })
  const status = async (url: string) => (await app.inject({ url, headers: { accept: 'text/html' } })).statusCode
  for (const [url, expected] of [
    ['/', 200],
    ['/?q=has%3Aerror', 200],
    [`/@${slug}?sort=updated`, 200],
    [`/@${slug}?q=has%3Aerror`, 429],
    [`/@${slug}`, 200],
    ['/?q=', 200],
  ] as const)
    assert.is(await status(url), expected, url)
})

test('a link of another list, or a filter that is too long, leads back to a page', async () => {
  for (const path of [
    '/?q=has%3Aerror&cursor=bad',
    `/@${slug}?q=has%3Aerror&sort=updated&cursor=bad`,
    `/?q=${'x'.repeat(401)}`,
  ]) {
    const { statusCode, body } = await as('admin', 'here').open(path)
    assert.is(statusCode, 400)
    assert.match(body, '<h1>This link does not work</h1>')
  }
  assert.is((await as('admin', 'here').open('/?sort=other&q=')).statusCode, 200)
})

test.run()
