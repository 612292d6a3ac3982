import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Caller, callers, openTeam } from '../../access/team.ts'
import type { CurrentSession } from '../../../src/contract/sessions.ts'
import { invitePath } from '../../../src/server/pages/links.ts'
import { browserOf } from '../../support/form-browser.ts'
import { invitesOf } from './support/invites.ts'

const test = suite('who may do what on the page of an invite, and with the forms of a browser')
const { app, team } = await openTeam(test)
const url = `/v1/namespaces/${team.slug}`
const { invite, usesOf } = invitesOf(team.admin, team.slug)
const as = (token: string | undefined) => browserOf(app, token)

type Standing = 'signed out' | 'outside' | 'member'
const standingOf = (caller: Caller): Standing => {
  if (caller === 'nobody' || caller === 'revoked') return 'signed out'
  return caller === 'stranger' || caller === 'former' ? 'outside' : 'member'
}

/** What the page shows, whether its form is accepted, and how many uses that spends. */
const expected = {
  'signed out': { button: 'Join as a new person in this browser', accepted: false, uses: 0 },
  outside: { button: 'Join as', accepted: true, uses: 1 },
  member: { button: undefined, accepted: true, uses: 0 },
} as const

for (const place of ['here', 'elsewhere'] as const)
  for (const caller of callers) {
    const { button, accepted, uses } = expected[standingOf(caller)]
    test(`${caller}, ${place}: ${accepted ? 'accepts and goes on in the namespace' : 'is shown the ways in'}`, async () => {
      const [code, token] = [await invite(), team.tokenOf(caller, place)]
      const browser = as(token)
      const { statusCode, body } = await browser.open(invitePath(code))
      assert.is(statusCode, 200)
      assert.is(body.includes('method="post"'), button !== undefined)
      if (button !== undefined) assert.match(browser.text(), button)
      const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
      for (const form of ['accept', 'join'])
        assert.is((await browser.post(`${invitePath(code)}/${form}`, {}, foreign)).statusCode, 403)
      assert.is(await usesOf(code), 0)
      const { headers } = await browser.post(`${invitePath(code)}/accept`, {})
      assert.equal([headers.location, await usesOf(code)], [accepted ? '/@the-team' : invitePath(code), uses])
      if (!accepted) return
      const { data } = await app.call('GET', '/v1/session', { token })
      assert.is((data as CurrentSession).namespace?.slug, 'the-team')
      if (standingOf(caller) === 'outside') await team.admin.send('DELETE', `${url}/members/${team.userOf(caller)}`)
    })

    test(`${caller}, ${place}: ${accepted ? 'makes a link for another browser' : 'makes no link'}`, async () => {
      const { statusCode, body } = await as(team.tokenOf(caller, place)).post('/settings/browser', {})
      assert.equal([statusCode, body.includes('/signin/join?code=')], accepted ? [200, true] : [401, false])
    })
  }

test('the form for a new person leads whoever is signed in back to the page', async () => {
  const code = await invite()
  const { headers } = await as(team.tokenOf('stranger', 'here')).post(`${invitePath(code)}/join`, {
    displayName: 'Eve',
  })
  assert.equal([headers.location, headers['set-cookie'], await usesOf(code)], [invitePath(code), undefined, 0])
})

test.run()
