import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openWorld, signIn } from '../../support/world.ts'
import { browserOf } from '../../support/form-browser.ts'

const test = suite('web: the bar of every page')
const { node } = await openWorld(test)

const ada = await signIn(node)
const { slug } = await ada.newTeam('the-team')
const own = ada.namespaceSlug

/** The links of the bar to namespaces, with what marks them. */
const links = (body: string) =>
  [...body.slice(0, body.indexOf('</nav>')).matchAll(/<a href="\/@([^"]+)"(?: aria-current="(\w+)")?>/g)].map(
    ([, name, current]) => (current === undefined ? name : `${name} ${current}`),
  )
const linksAt = async (url: string, token?: string) => links((await browserOf(node, token ?? ada.token).open(url)).body)

test('has tabs for all namespaces of who is signed in, their own first, and marks where the page is', async () => {
  assert.equal(await linksAt('/'), [own, slug])
  assert.equal(await linksAt(`/@${slug}`), [own, `${slug} page`])
  assert.equal(await linksAt(`/@${slug}/-/members`), [own, `${slug} true`])
  assert.equal(await linksAt('/nowhere'), [own, slug])
  assert.equal(links((await browserOf(node, undefined).open('/')).body), [])
})

test('has them also on pages that refuse something', async () => {
  const stranger = await signIn(node)
  const { statusCode, body } = await browserOf(node, stranger.token).open(`/@${slug}/-/members`)
  assert.equal([statusCode, links(body)], [403, [stranger.namespaceSlug]])
})

test('follows at once when somebody joins or leaves', async () => {
  const guest = await signIn(node)
  assert.equal(await linksAt('/', guest.token), [guest.namespaceSlug])
  await ada.admit(slug, guest)
  assert.equal(await linksAt('/', guest.token), [guest.namespaceSlug, slug])
  await ada.send('DELETE', `/v1/namespaces/${slug}/members/${guest.userId}`)
  assert.equal(await linksAt('/', guest.token), [guest.namespaceSlug])
})

test('has the own namespace first, and its initials, also of somebody who came with an invite', async () => {
  const { invite } = await ada.send<{ invite: { code: string } }>('POST', `/v1/namespaces/${slug}/invites`, {})
  const guest = await signIn(node, 'guest', { inviteCode: invite.code, slug: 'zed' })
  await guest.send('POST', '/v1/session/switch', { slug })
  const { body } = await browserOf(node, guest.token).open('/')
  assert.equal(links(body), ['zed', slug])
  assert.match(body, '<bdi aria-hidden="true">ZE</bdi>')
})

test('has the initials of the person: of the name, as soon as there is one', async () => {
  const initials = async () =>
    /<a class="who me"[^>]*><bdi aria-hidden="true">([^<]*)</.exec(
      (await browserOf(node, ada.token).open('/help')).body,
    )?.[1]
  assert.is(await initials(), own.replaceAll('-', '').slice(0, 2).toUpperCase())
  await ada.send('PATCH', '/v1/user', { displayName: 'Zoë Q.' })
  assert.is(await initials(), 'ZO')
})

test.run()
