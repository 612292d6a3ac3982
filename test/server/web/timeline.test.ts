import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Caller, callers, newTeam } from '../../access/team.ts'
import { openWorld, signIn } from '../../support/world.ts'
import { elementsOf, textOf } from '../../transcript/support/elements.ts'
import { browserOf } from '../../support/form-browser.ts'

const test = suite('web: the timeline of a namespace')
const { node } = await openWorld(test)
const team = await newTeam(node, 'the-team')

/** The sentences of the page, newest first. */
const sentences = (body: string): string[] =>
  elementsOf(body)
    .filter(({ attrs }) => attrs.some(({ name, value }) => name === 'class' && value === 'in'))
    .map((row) => textOf(row).trim())

const statuses: Readonly<Record<Caller, number>> = {
  nobody: 401,
  revoked: 401,
  stranger: 403,
  former: 403,
  member: 403,
  creator: 403,
  admin: 200,
}
for (const caller of callers)
  test(`${caller}: only admins see the timeline`, async () => {
    const { statusCode } = await browserOf(node, team.tokenOf(caller, 'here')).open('/@the-team/-/timeline')
    assert.is(statusCode, statuses[caller])
  })

test('has who did what to members, invites, settings, and what was deleted, newest first', async () => {
  const [ada, bob] = [await signIn(node), await signIn(node)]
  await ada.send('PATCH', '/v1/user', { displayName: 'Ada' })
  await bob.send('PATCH', '/v1/user', { displayName: 'Bob' })
  const slug = ada.namespaceSlug
  await ada.admit(slug, bob)
  await ada.newTrace({}, [], 'gone')
  await ada.newTrace({ title: 'Not said' }, [], 'kept')
  await ada.send('DELETE', '/v1/traces/gone')
  await ada.send('PATCH', `/v1/namespaces/${slug}`, { retentionDays: 30 })
  await ada.send('DELETE', `/v1/namespaces/${slug}/members/${bob.userId}`)
  const browser = browserOf(node, ada.token)
  const read = async (query = '') => sentences((await browser.open(`/@${slug}/-/timeline${query}`)).body)
  const all = await read()
  const said = [
    /^AD Ada removed Bob from the namespace$/,
    /^AD Ada decided that the namespace keeps traces for 30 days/,
    /^AD Ada deleted the trace “gone”/,
    /^BO Bob joined as a member with the invite/,
    /^AD Ada made the invite/,
    /Ada became an admin$/,
    /created the namespace/,
  ]
  assert.is(all.length, said.length)
  for (const [i, sentence] of said.entries()) assert.match(all[i]!, sentence)
  assert.equal(await read('?part=people'), [all[0], all[3], all[4], all[5]])
  assert.equal(await read('?part=settings'), [all[1], all[6]])
  assert.equal(await read('?part=deletions'), [all[2]])
  assert.equal(await read('?part=unknown'), all)
})

test('comes by pages', async () => {
  const ada = await signIn(node)
  const slug = ada.namespaceSlug
  const invite = () => ada.send('POST', `/v1/namespaces/${slug}/invites`, {})
  for (let i = 0; i < 50; i++) await invite()
  const browser = browserOf(node, ada.token)
  const first = (await browser.open(`/@${slug}/-/timeline?part=people`)).body
  const [, next] = /<a class="btn" rel="next" href="([^"]+)"/.exec(first)!
  const second = (await browser.open(next!.replaceAll('&amp;', '&'))).body
  assert.equal([sentences(first).length, sentences(second).length], [50, 1])
  assert.not.match(second, 'rel="next"')
  assert.is((await browser.open(`/@${slug}/-/timeline?cursor=nothing`)).statusCode, 400)
})

test.run()
