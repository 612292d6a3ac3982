import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Caller, callers, newTeam } from '../../access/team.ts'
import { callerOf, openWorld, signIn } from '../../support/world.ts'
import { elementsOf, textOf } from '../../transcript/support/elements.ts'
import { FOREIGN, browserOf } from '../../support/form-browser.ts'

const test = suite('web: members and invites of a namespace')
const { node } = await openWorld(test)
const team = await newTeam(node, 'the-team')

const MEMBERS = '/@the-team/-/members'
const ROLE = '/@the-team/-/member-role'
const REMOVAL = '/@the-team/-/remove-member'
const INVITES = '/@the-team/-/invites'
const REVOKE = '/@the-team/-/revoke-invite'

const as = (caller: Caller) => browserOf(node, team.tokenOf(caller, 'here'))
const admin = as('admin')

type Invite = { readonly code: string; readonly state: string; readonly maxUses?: number; readonly email?: string }
const invites = async () =>
  (await team.admin.send<{ invites: Invite[] }>('GET', '/v1/namespaces/the-team/invites')).invites
const roles = async (slug = 'the-team', by = team.admin) => {
  type Members = { members: { user: { id: string }; role: string }[] }
  const { members } = await by.send<Members>('GET', `/v1/namespaces/${slug}/members`)
  return new Map(members.map(({ user, role }) => [user.id, role]))
}

/** A namespace with two people in it. */
const newPair = async (role: 'admin' | 'member') => {
  const [ada, bob] = [await signIn(node), await signIn(node)]
  const { slug } = await ada.newTeam()
  await ada.admit(slug, bob, role)
  return { slug, ada, bob, path: (name: string) => `/@${slug}/-/${name}` }
}

test('the page has all members with their roles, since when, and who invited them', async () => {
  const [name, other] = [await signIn(node), await signIn(node)]
  await name.send('PATCH', '/v1/user', { displayName: 'Ada Lovelace' })
  const { slug } = await name.newTeam()
  await name.admit(slug, other)
  const { statusCode, body } = await browserOf(node, name.token).open(`/@${slug}/-/members`)
  assert.is(statusCode, 200)
  const rows = elementsOf(body)
    .filter(({ tagName }) => tagName === 'tr')
    .map((row) => textOf(row).replaceAll(/\s+/g, ' '))
  assert.match(rows[1]!, /AD ?Ada Lovelace ?you ?Admin ?Step down/)
  assert.match(
    rows[2]!,
    new RegExp(`User ${other.userId.slice(0, 8)} ?Member ?Make an admin.*\\d\\d:\\d\\d ?Ada Lovelace ?Remove`),
  )
})

/** The status of each page and form for a caller. */
type Statuses = { readonly list: number; readonly others: number }
const statuses: Readonly<Record<Caller, Statuses>> = {
  nobody: { list: 401, others: 401 },
  revoked: { list: 401, others: 401 },
  stranger: { list: 403, others: 403 },
  former: { list: 403, others: 403 },
  member: { list: 200, others: 403 },
  creator: { list: 200, others: 403 },
  admin: { list: 200, others: 303 },
}

for (const caller of callers) {
  test(`${caller}: members see who belongs to a namespace, and only admins change it`, async () => {
    const { list, others } = statuses[caller]
    const { ask, slug, code, guest } = await newGuest()
    assert.is(slug, 'the-team')
    const page = await as(caller).open(MEMBERS)
    assert.is(page.statusCode, list)
    if (list !== 200) assert.not.match(page.body, guest)
    assert.is(page.body.includes('id="invites"'), caller === 'admin')
    assert.is((await as(caller).open(`${REMOVAL}?user=${guest}`)).statusCode, others === 303 ? 200 : others)
    const before = await invites()
    assert.is((await as(caller).post(ROLE, { user: guest, role: 'admin' })).statusCode, others)
    assert.is((await roles()).get(guest), others === 303 ? 'admin' : 'member')
    assert.is((await as(caller).post(INVITES, { role: 'member', email: '', maxUses: '' })).statusCode, others)
    assert.is((await invites()).length - before.length, others === 303 ? 1 : 0)
    assert.is((await as(caller).post(REVOKE, { code })).statusCode, others)
    const { state } = (await invites()).find((one) => one.code === code)!
    assert.is(state, others === 303 ? 'revoked' : 'pending')
    assert.is((await as(caller).post(REMOVAL, { user: guest })).statusCode, others)
    assert.is((await ask()).status, others === 303 ? 403 : 200)
  })
}

/** Another member of the team, and an open invite. */
const newGuest = async () => {
  const guest = await signIn(node)
  await team.admin.admit('the-team', guest)
  const { invite } = await team.admin.send<{ invite: Invite }>('POST', '/v1/namespaces/the-team/invites', {})
  const ask = () => guest.ask('GET', '/v1/namespaces/the-team/members')
  return { ask, slug: 'the-team', code: invite.code, guest: guest.userId }
}

test('a form of another site changes nothing', async () => {
  const { guest, code } = await newGuest()
  const before = await invites()
  for (const [url, fields] of [
    [ROLE, { user: guest, role: 'admin' }],
    [REMOVAL, { user: guest }],
    [INVITES, { role: 'admin', email: '', maxUses: '0' }],
    [REVOKE, { code }],
  ] as const)
    assert.is((await admin.post(url, fields, FOREIGN)).statusCode, 403, url)
  assert.is((await roles()).get(guest), 'member')
  assert.equal(await invites(), before)
})

test('the last admin is told why they can neither step down nor leave, on the page and by the forms', async () => {
  const { slug, ada, bob, path } = await newPair('member')
  const browser = browserOf(node, ada.token)
  const { body } = await browser.open(path('members'))
  assert.match(body, 'The last admin stays')
  assert.is(body.match(/<button [^>]*disabled aria-describedby="last-admin"/g)?.length, 2)
  assert.match((await browser.open(`${path('remove-member')}?user=${ada.userId}`)).body, 'disabled aria-describedby')
  for (const [name, fields] of [
    ['member-role', { user: ada.userId, role: 'member' }],
    ['remove-member', { user: ada.userId }],
  ] as const) {
    const refused = await browser.post(path(name), fields)
    assert.is(refused.statusCode, 409)
    assert.match(refused.body, 'This member is the last admin of the namespace')
    assert.match(refused.body, 'Step down')
  }
  assert.equal([...(await roles(slug, ada)).values()], ['admin', 'member'])
  assert.is((await browser.post(path('member-role'), { user: bob.userId, role: 'admin' })).statusCode, 303)
  assert.not.match((await browser.open(path('members'))).body, 'The last admin')
})

test('a member leaves after a question, and is told so', async () => {
  const { ada, bob, path, slug } = await newPair('member')
  const browser = browserOf(node, bob.token)
  const question = await browser.open(`${path('remove-member')}?user=${bob.userId}`)
  assert.match(question.body, `Leave @${slug}?`)
  assert.is((await browser.open(`${path('remove-member')}?user=${ada.userId}`)).statusCode, 403)
  const left = await browser.post(path('remove-member'), { user: bob.userId })
  assert.equal([left.statusCode, left.headers.location], [303, `/@${slug}?saved=left`])
  assert.match((await browser.open(`/@${slug}?saved=left`)).body, `You have left @${slug}.`)
  assert.not.match((await browserOf(node, ada.token).open(`/@${slug}?saved=left`)).body, 'You have left')
})

test('an invite is made with its terms, and its link has the address of the service, not that of the request', async () => {
  const made = await admin.post(INVITES, { role: 'admin', email: 'bob@example.org', maxUses: '3' })
  assert.is(made.headers.location, `${MEMBERS}?saved=invite#invites`)
  const invite = (await invites()).find(({ email }) => email !== undefined)
  assert.equal([invite!.email, invite!.maxUses], ['bob@example.org', 3])
  const { body } = await admin.open(`${MEMBERS}?saved=invite`)
  assert.match(body, 'The invite is made')
  assert.match(body, `<code>http://127.0.0.1:${node.service.config.PORT}/invite/${invite!.code}</code>`)
  assert.match(body, '0 of 3 used')
  assert.match(body, 'as admin, only <bdi>bob@example.org</bdi>')
  assert.match(body, /2[34] h left/)
})

test('what was typed into the form of an invite stays there if it is wrong', async () => {
  const before = await invites()
  const { statusCode, body } = await admin.post(INVITES, { role: 'admin', email: 'bob <b>', maxUses: '-1' })
  assert.is(statusCode, 400)
  assert.match(body, 'value="bob &lt;b&gt;"')
  assert.match(body, 'value="-1"')
  assert.match(body, 'This is not an e-mail address.')
  assert.match(body, 'Type a whole number')
  assert.match(body, 'value="admin" checked')
  assert.equal(await invites(), before)
})

test('the invites that can still be used come first, the others after them', async () => {
  const { slug, ada, path } = await newPair('member') // by an invite, which is used up
  const { invite } = await ada.send<{ invite: Invite }>('POST', `/v1/namespaces/${slug}/invites`, {})
  const { body } = await browserOf(node, ada.token).open(path('members'))
  const states = [...body.matchAll(/<span class="tag(?: ok)?">([a-z ]+)</g)].map(([, state]) => state)
  assert.equal(states, ['open', 'used up'])
  assert.match(body, `/invite/${invite.code}`)
})

test('a revoked invite stays in the list without its link', async () => {
  const { code } = await newGuest()
  const done = await admin.post(REVOKE, { code })
  assert.is(done.headers.location, `${MEMBERS}?saved=revoked#invites`)
  const { body } = await admin.open(MEMBERS)
  assert.not.match(body, `/invite/${code}`)
  assert.match(body, code)
})

test('who is removed while the page is open is told so by its next form', async () => {
  const { ada, bob, path } = await newPair('admin')
  const browser = browserOf(node, bob.token)
  assert.is((await browser.open(path('members'))).statusCode, 200)
  await browserOf(node, ada.token).post(path('remove-member'), { user: bob.userId })
  for (const [name, fields] of [
    ['invites', { role: 'member', email: '', maxUses: '' }],
    ['invites', { role: 'member', email: 'no address', maxUses: '' }],
    ['member-role', { user: ada.userId, role: 'member' }],
    ['remove-member', { user: ada.userId }],
  ] as const) {
    const { statusCode, body } = await browser.post(path(name), fields)
    assert.is(statusCode, 403)
    assert.match(body, 'You are not a member of this namespace')
  }
})

test('a member who has left meanwhile can be neither removed nor changed, and the page says so', async () => {
  const { ada, bob, path } = await newPair('member')
  const browser = browserOf(node, ada.token)
  await bob.send('DELETE', `/v1/namespaces/${path('').split('/')[1]!.slice(1)}/members/${bob.userId}`)
  for (const answer of [
    await browser.open(`${path('remove-member')}?user=${bob.userId}`),
    await browser.post(path('remove-member'), { user: bob.userId }),
    await browser.post(path('member-role'), { user: bob.userId, role: 'admin' }),
  ]) {
    assert.is(answer.statusCode, 404)
    assert.match(answer.body, 'The namespace has no member with this user id')
    assert.match(answer.body, 'Step down')
  }
})

test('of two admins who demote each other one stays an admin', async () => {
  const { ada, bob, path, slug } = await newPair('admin')
  const answers = await Promise.all([
    browserOf(node, ada.token).post(path('member-role'), { user: bob.userId, role: 'member' }),
    browserOf(node, bob.token).post(path('member-role'), { user: ada.userId, role: 'member' }),
  ])
  assert.equal(answers.map(({ statusCode }) => statusCode).sort(), [303, 403])
  assert.match(answers.find(({ statusCode }) => statusCode === 403)!.body, 'You are not an admin of this namespace')
  assert.equal([...(await roles(slug, ada)).values()].sort(), ['admin', 'member'])
})

test('a page of another list is refused, and unknown namespaces are not found', async () => {
  assert.is((await admin.open(`${MEMBERS}?cursor=nothing`)).statusCode, 400)
  assert.is((await admin.open('/@no-such-team/-/members')).statusCode, 404)
  assert.is((await callerOf(node).open('/@no-such-team/-/members')).statusCode, 401)
})

test.run()
