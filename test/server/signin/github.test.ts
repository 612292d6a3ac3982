import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { LOOPBACK, githubLike, openWithProvider } from './support/world.ts'

const test = suite('sign-in with a host like GitHub')
const world = await openWithProvider(test, githubLike)
const { call, provider, signIn, start, consent, arrive } = world
test.before.each(() => {
  provider.refusesAsGithub = false
  provider.isDown = false
})

const identity = async (token: string) => {
  const { data } = await call('GET', '/v1/user/identities', { token })
  return (data as { identities: Record<string, unknown>[] }).identities.find(({ type }) => type === 'codehost')!
}

test('the account has the id and name that the code host gives, and its primary verified address', async () => {
  provider.account = { id: '4711', login: 'ada', email: 'ada@example.org', emailVerified: true }
  const { token } = await signIn()
  const { id: _, ...shown } = await identity(token)
  const picture = { login: 'ada', avatarUrl: 'https://pictures.example/ada.png' }
  assert.equal(shown, { type: 'codehost', ...picture, email: 'ada@example.org', emailVerified: true })
})

test('an address that the code host has not verified is not verified here', async () => {
  provider.account = { id: '4712', login: 'bob', email: 'bob@example.org', emailVerified: false }
  const { email, emailVerified } = await identity((await signIn({ deviceId: 'two' })).token)
  assert.equal([email, emailVerified], ['bob@example.org', false])
})

test('an account without an address can sign in', async () => {
  provider.account = { id: '4713', login: 'eve' }
  const { emailVerified, ...shown } = await identity((await signIn({ deviceId: 'three' })).token)
  assert.is(emailVerified, false)
  assert.not.ok('email' in shown)
})

test('an error in an answer with status 200 is a refusal', async () => {
  const url = await consent(await start())
  provider.refusesAsGithub = true
  const answer = await arrive(url)
  assert.equal([answer.statusCode, answer.json().error.code], [400, 'invalid_request'])
})

test('a code host that is down gives 503', async () => {
  const url = await consent(await start({ redirectTo: LOOPBACK }))
  provider.isDown = true
  assert.match((await arrive(url)).headers.location!, /error=unavailable$/)
})

test.run()
