import { hostname } from 'node:os'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newApiClient, type SignInReview } from '../../../src/client/api/client.ts'
import { type Prompts, parseExchangeCode, logInWithCodehost } from '../../../src/client/login/codehost-login.ts'
import { connect } from '../../../src/client/login/connect.ts'
import { readCredentials } from '../../../src/client/login/credentials.ts'
import { logInWithDevice } from '../../../src/client/login/device-login.ts'
import { proposalOf } from '../../../src/client/login/new-person.ts'
import { openWithProvider } from '../../server/signin/support/world.ts'
import { newWorld } from '../../support/world.ts'
import { tempFolder } from '../support/temp.ts'

const test = suite('logging in with the code host')
const world = await openWithProvider(test, (url) => ({ CODEHOST_ISSUER: url }))
const { app, provider, consent, agree } = world
const server = await app.listen({ port: 0, host: '127.0.0.1' })
const folders = [tempFolder(), tempFolder()]
const [config, elsewhere] = [folders[0]!.path, folders[1]!.path]
test.before.each(() => void (provider.consents = true))
test.after(() => {
  for (const { remove } of folders) remove()
})

/** Prompts of a user with a browser on this machine, who confirms unless `confirms` is false. */
const newPrompts = (browse: (url: string) => Promise<unknown>) => {
  const prompts = {
    browsed: Promise.resolve() as Promise<unknown>,
    openSignInPage: (url: string) => void (prompts.browsed = browse(url)),
    askForCode: undefined,
    confirm: async (description: string) => {
      prompts.shown = description
      return prompts.confirms
    },
    confirms: true,
    shown: '',
  }
  return prompts
}
/** Signs in at the code host, and follows its redirect to the port that the command listens on. */
const clicks = () =>
  newPrompts(async (authorizeUrl) => {
    const { headers } = await agree(await consent({ authorizeUrl }))
    return (await fetch(headers.location!)).text()
  })
/** Signs in at the code host, and pastes the code that the page shows. */
const copies = (): Prompts => {
  const shown = Promise.withResolvers<string>()
  const browse = async (authorizeUrl: string) => {
    const { body } = await agree(await consent({ authorizeUrl }))
    shown.resolve(` ${/<code>([\w-]+)<\/code>/.exec(body)![1]}\n`)
  }
  return { openSignInPage: (url) => void browse(url), askForCode: () => shown.promise, confirm: async () => true }
}
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    (): Error => assert.unreachable() as never,
    (error: unknown) => error as Error,
  )

test('the browser sends the code to a port that login listens on', async () => {
  const prompts = clicks()
  const { userId } = await logInWithCodehost({ config, server, isLocal: true, prompts }, newApiClient)
  assert.match(String(await prompts.browsed), 'You are signed in')
  const { login } = (await readCredentials(config, server))!
  assert.is(login!.userId, userId)
  assert.is((await newApiClient(server, login!.token).session()).user.id, userId)
  assert.is((await logInWithDevice(config, server, newApiClient)).userId, userId)
})

test('the user pastes the code if the browser cannot reach a port of this machine', async () => {
  const { userId } = await logInWithCodehost({ config, server, isLocal: false, prompts: copies() }, newApiClient)
  assert.is((await readCredentials(config, server))!.login!.userId, userId)
})

test('login fails at once if the code has to be pasted and there is no terminal', async () => {
  const prompts = newPrompts(async () => {})
  const error = await failureOf(logInWithCodehost({ config, server, isLocal: false, prompts }, newApiClient))
  assert.is(error.name, 'UsageError')
})

test('a denied sign-in is reported', async () => {
  provider.consents = false
  const error = await failureOf(logInWithCodehost({ config, server, isLocal: true, prompts: clicks() }, newApiClient))
  assert.equal([error.name, error.message], ['RequestFailed', 'the code host did not sign you in (forbidden)'])
})

test('login asks before it joins an account to a user, and names the account, the device and the user', async () => {
  provider.account = { id: 'told', login: 'to\u001b[2Jld\u202e' }
  const folder = tempFolder()
  const where = { config: folder.path, server, isLocal: true }
  const account = `your account "to\\u001b[2Jld\\u202e" at the code host of ${server}`
  const refuses = clicks()
  refuses.confirms = false
  const refused = await failureOf(logInWithCodehost({ ...where, prompts: refuses }, newApiClient))
  assert.equal([refused.name, refused.message], ['RequestFailed', 'nothing was joined, and you are not logged in'])
  assert.is(refuses.shown, `A new user will be made, for this device (${hostname()}) and ${account}.`)
  assert.is((await readCredentials(folder.path, server))!.login, undefined)

  const { userId, namespaceSlug } = await logInWithDevice(folder.path, server, newApiClient)
  const [joins, known] = [clicks(), clicks()]
  assert.is((await logInWithCodehost({ ...where, prompts: joins }, newApiClient)).userId, userId)
  const user = `user ${userId} (namespace ${namespaceSlug})`
  const joined = `${account} will be joined to that user for good.`
  assert.is(joins.shown, `This device (${hostname()}) belongs to ${user}: ${joined}`)
  await logInWithCodehost({ ...where, prompts: known }, newApiClient)
  assert.is(known.shown, `This device (${hostname()}) will act with ${account}, as ${user}.`)
  folder.remove()
  provider.account = { id: '1', login: 'ada' }
})

test('a new user with an account is asked for names, with the account as a proposal; one who is known is not', async () => {
  provider.account = { id: 'named', login: 'Grace_H', name: 'Grace Hopper' }
  const folder = tempFolder()
  const asked: unknown[] = []
  const personOf = async (account: SignInReview['account']) => {
    asked.push(proposalOf(account))
    return { slug: 'grace' }
  }
  const logIn = () =>
    logInWithCodehost({ config: folder.path, server, isLocal: true, prompts: clicks(), personOf }, newApiClient)
  const { displayName, namespaceSlug } = await logIn()
  assert.equal([displayName, namespaceSlug], ['Grace Hopper', 'grace'])
  assert.is((await logIn()).namespaceSlug, 'grace')
  assert.equal(asked, [{ name: 'Grace Hopper', slug: 'grace-h', isTaken: true }])
  folder.remove()
  provider.account = { id: '1', login: 'ada' }
})

test('without a terminal to confirm in, login fails before the browser is opened', async () => {
  const prompts = { ...clicks(), confirm: undefined }
  const error = await failureOf(logInWithCodehost({ config, server, isLocal: true, prompts }, newApiClient))
  assert.is(error.name, 'UsageError')
  assert.match(error.message, 'or use --yes')
})

test('a code with another state is rejected', async () => {
  const prompts = newPrompts(async (authorizeUrl) => {
    const { headers } = await agree(await consent({ authorizeUrl }))
    const forged = new URL(headers.location!)
    forged.searchParams.set('state', 'another')
    assert.is((await fetch(forged)).status, 404)
    return fetch(headers.location!)
  })
  await logInWithCodehost({ config, server, isLocal: true, prompts }, newApiClient)
})

test('a login with the code host may use all namespaces of the user, a login with the device only its own', async () => {
  const { login } = (await readCredentials(config, server))!
  await world.call('POST', '/v1/namespaces', { token: login!.token, body: { slug: 'team', displayName: 'Team' } })
  await logInWithDevice(elsewhere, server, newApiClient)
  await logInWithCodehost({ config: elsewhere, server, isLocal: true, prompts: clicks() }, newApiClient)
  const where = { config: elsewhere, server, slug: 'team', readOnly: false }
  assert.match((await failureOf(connect(where, newApiClient))).message, 'This device may not use the namespace "team"')
  const slug = ' Team '
  const found = await logInWithCodehost(
    { config: elsewhere, server, slug, isLocal: true, prompts: clicks() },
    newApiClient,
  )
  assert.is(found.namespaceSlug, 'team')
  assert.is((await connect(where, newApiClient)).namespaceSlug, 'team')
})

test('login fails with a clear reason if the server has no code host', async () => {
  const plain = await newWorld()
  const url = await plain.node.app.listen({ port: 0, host: '127.0.0.1' })
  const error = await failureOf(
    logInWithCodehost({ config, server: url, isLocal: true, prompts: clicks() }, newApiClient),
  )
  assert.match(error.message, /has no code host to sign in with/)
  await plain.close()
})

test('the code is found in pasted text', () => {
  assert.is(parseExchangeCode(' abc-_1\n'), 'abc-_1')
  assert.is(parseExchangeCode('http://127.0.0.1:5000/?state=s&exchangeCode=abc'), 'abc')
})

test.run()
