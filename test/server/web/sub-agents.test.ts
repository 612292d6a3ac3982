import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTeam } from '../../access/team.ts'
import type { Caller } from '../../support/world.ts'

const test = suite('web: sub-agents below their sessions')
const { team } = await openTeam(test)
const { creator, slug, as } = team

const put = (id: string, body: object) => creator.send('PUT', `/v1/traces/${id}`, { title: `The ${id}`, ...body })
const remove = (id: string) => creator.send('DELETE', `/v1/traces/${id}`)

/** The titles in the list of a page, each with what it says of sub-agents. */
const rows = async ({ open }: Pick<Caller, 'open'>, url: string): Promise<string[]> => {
  const { statusCode, body } = await open(url)
  assert.is(statusCode, 200, body)
  return [...body.matchAll(/<li class="(?:now|then)"[^]*?<\/li>/g)].flatMap(([row]) => {
    const [, title = ''] = />(The [^<]*)<\/a>/.exec(row) ?? []
    const [, below] = /class="below" href="[^"]+">([^<]+)</.exec(row) ?? []
    return title === '' ? [] : [below === undefined ? title : `${title} ${below}`]
  })
}

const twelve = Array.from({ length: 12 }, (_, i) => i)
const namespacePage = `/@${slug}`
const below = `/@${slug}/session/-/sub-agents`

test('twelve sub-agents do not push the two sessions of a person off the first page, and a link leads to them', async () => {
  const started = ['first', 'second']
  for (const session of started) {
    await put(session, {})
    for (const i of twelve) await put(`${session}-${i}`, { title: `The helper ${i}`, parentExternalId: session })
  }
  const sessions = ['The second +12 sub-agents', 'The first +12 sub-agents']
  const own = (await rows(as('creator', 'here'), '/')).slice(0, 2)
  assert.equal(own, sessions)
  assert.equal(await rows(as('creator', 'here'), '/?scope=mine'), sessions)
  assert.equal((await rows(as('member', 'here'), namespacePage)).slice(0, 2), sessions)
  const { body } = await as('member', 'here').open('/')
  const [, link = ''] = /class="below" href="([^"]+)"/.exec(body)!
  const helpers = await rows(as('member', 'here'), link)
  assert.equal(
    helpers,
    twelve.map((i) => `The helper ${11 - i}`),
  )
  for (const session of started) for (const id of [session, ...twelve.map((i) => `${session}-${i}`)]) await remove(id)
})

test('each sees the sub-agents that they may read below the sessions that they may read', async () => {
  await put('session', { visibility: 'public' })
  await put('private-helper', { parentExternalId: 'session' })
  await put('public-helper', { parentExternalId: 'session', visibility: 'public' })
  await put('hidden', {})
  await put('helper-of-hidden', { parentExternalId: 'hidden', visibility: 'public' })
  await put('fork', { parentExternalId: 'session', parentKind: 'fork', visibility: 'public' })
  await put('self', { parentExternalId: 'self', visibility: 'public' })
  await put('orphan', { parentExternalId: 'not-here', visibility: 'public' })
  const outside = ['The orphan', 'The self', 'The fork', 'The helper-of-hidden', 'The session +1 sub-agent']
  const inside = [...['The orphan', 'The self', 'The fork', 'The hidden +1 sub-agent'], 'The session +2 sub-agents']
  for (const caller of ['nobody', 'revoked', 'stranger', 'former'] as const) {
    assert.equal(await rows(as(caller, 'elsewhere'), namespacePage), outside, caller)
    assert.equal(await rows(as(caller, 'elsewhere'), '/?scope=public'), outside, caller)
    assert.equal(await rows(as(caller, 'elsewhere'), below), ['The public-helper'], caller)
    const { statusCode } = await as(caller, 'elsewhere').open(`/@${slug}/hidden/-/sub-agents`)
    assert.ok([401, 404].includes(statusCode), caller)
  }
  for (const caller of ['member', 'creator', 'admin'] as const) {
    assert.equal(await rows(as(caller, 'elsewhere'), namespacePage), inside, caller)
    assert.equal(await rows(as(caller, 'here'), '/'), inside, caller)
    assert.equal(await rows(as(caller, 'elsewhere'), below), ['The public-helper', 'The private-helper'], caller)
    assert.equal(await rows(as(caller, 'elsewhere'), `/@${slug}/hidden/-/sub-agents`), ['The helper-of-hidden'])
  }
})

test('the first page for everybody follows each change of what stands below what', async () => {
  const nobody = as('nobody', 'elsewhere')
  const top = async () => (await rows(nobody, '/')).slice(0, 2)
  await put('above', { visibility: 'public' })
  await put('beneath', { visibility: 'public' })
  assert.equal(await top(), ['The beneath', 'The above'])
  await put('beneath', { parentExternalId: 'above', visibility: 'public' })
  assert.is((await top())[0], 'The above +1 sub-agent')
  await put('beneath', { parentExternalId: 'not-here', visibility: 'public' })
  assert.equal(await top(), ['The beneath', 'The above'])
  await put('beneath', { parentExternalId: 'above', visibility: 'public' })
  await put('beneath', { visibility: 'private' })
  assert.is((await top())[0], 'The above')
  await put('beneath', { visibility: 'public' })
  assert.is((await top())[0], 'The above +1 sub-agent')
  await put('above', { visibility: 'private' })
  assert.is((await top())[0], 'The beneath')
  await put('above', { visibility: 'public' })
  assert.is((await top())[0], 'The above +1 sub-agent')
  await remove('beneath')
  assert.is((await top())[0], 'The above')
  await put('another', { parentExternalId: 'above', visibility: 'public' })
  assert.is((await top())[0], 'The above +1 sub-agent')
  await remove('above')
  assert.is((await top())[0], 'The another')
})

test('the page of a sub-agent names the agent that prompted, in which session, and no person', async () => {
  await put('asking', { visibility: 'public', agentId: 'claude-code' })
  await put('asked', { visibility: 'public', agentId: 'codex', parentExternalId: 'asking' })
  const messages = [{ externalId: 'm', role: 'user', order: 0, textContent: 'Look for the cause' }]
  for (const id of ['asking', 'asked']) await creator.send('POST', `/v1/traces/${id}/messages/batch`, { messages })
  const { body } = await as('member', 'here').open(`/@${slug}/asked`)
  assert.match(body, /by <bdi>Claude Code<\/bdi>, in <a href="[^"]+\/asking"><bdi>The asking</)
  assert.match(body, /Prompt 1 by <\/span><bdi>Claude Code</)
  assert.not.match(body, /by <\/span><bdi>(?!Claude Code)/)
  await put('asking', { visibility: 'private' })
  const { body: shown } = await as('nobody', 'elsewhere').open(`/@${slug}/asked`)
  assert.match(shown, /Prompt 1 by <\/span><bdi>Codex</)
  assert.not.match(shown, 'The asking')
})

test.run()
