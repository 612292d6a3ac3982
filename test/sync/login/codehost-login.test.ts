import { hostname } from 'node:os'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newApi } from '../../../src/sync/api/client.ts'
import { type Person, codeIn, logInWithCodehost } from '../../../src/sync/login/codehost-login.ts'
import { connect } from '../../../src/sync/login/connect.ts'
import { readCredentials } from '../../../src/sync/login/credentials.ts'
import { logIn } from '../../../src/sync/login/device-login.ts'
import { openWorld } from '../../signin/support/world.ts'
import { freshDatabase } from '../../support/database.ts'
import { openApp } from '../../support/open-app.ts'
import { tempFolder } from '../support/temp.ts'

const test = suite('logging in with the code host')
const world = await openWorld((url) => ({ CODEHOST_ISSUER: url }))
const { app, provider, consent, agree } = world
const server = await app.listen({ port: 0, host: '127.0.0.1' })
const folders = [tempFolder(), tempFolder()]
const [config, elsewhere] = [folders[0]!.path, folders[1]!.path]
test.before.each(() => void (provider.consents = true))
test.after(async () => {
  await world.close()
  for (const { remove } of folders) remove()
})

const newPerson = (browse: (address: string) => Promise<unknown>) => {
  const person = {
    ended: Promise.resolve() as Promise<unknown>,
    send: (address: string) => void (person.ended = browse(address)),
    paste: undefined,
    agree: async (joining: string) => {
      person.told = joining
      return person.agrees
    },
    agrees: true,
    told: '',
  }
  return person
}
/** Says yes or no, and is sent to the port that the command waits at. */
const clicks = () =>
  newPerson(async (authorizeUrl) => {
    const { headers } = await agree(await consent({ authorizeUrl }))
    return (await fetch(headers.location!)).text()
  })
/** Copies the code from the page. */
const copies = (): Person => {
  const shown = Promise.withResolvers<string>()
  const send = async (authorizeUrl: string) => {
    const { body } = await agree(await consent({ authorizeUrl }))
    shown.resolve(` ${/<code>([\w-]+)<\/code>/.exec(body)![1]}\n`)
  }
  return { send: (address) => void send(address), paste: () => shown.promise, agree: async () => true }
}
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    (): Error => assert.unreachable() as never,
    (error: unknown) => error as Error,
  )

test('the browser brings the code to a port of this machine', async () => {
  const person = clicks()
  const { userId } = await logInWithCodehost({ config, server, isLocal: true, person }, newApi)
  assert.match(String(await person.ended), 'You are signed in')
  const { login } = (await readCredentials(config, server))!
  assert.is(login!.userId, userId)
  assert.is((await newApi(server, login!.token).session()).user.id, userId)
  assert.is((await logIn(config, server, newApi)).userId, userId)
})

test('without a port the code is pasted', async () => {
  const { userId } = await logInWithCodehost({ config, server, isLocal: false, person: copies() }, newApi)
  assert.is((await readCredentials(config, server))!.login!.userId, userId)
})

test('nobody is there to paste: said at once', async () => {
  const person = newPerson(async () => {})
  const error = await failureOf(logInWithCodehost({ config, server, isLocal: false, person }, newApi))
  assert.is(error.name, 'UsageError')
})

test('who says no hears of it', async () => {
  provider.consents = false
  const error = await failureOf(logInWithCodehost({ config, server, isLocal: true, person: clicks() }, newApi))
  assert.equal([error.name, error.message], ['RequestFailed', 'the code host did not sign you in (forbidden)'])
})

test('what will be joined is said before it is: the account, the device, and whose it is', async () => {
  provider.account = { id: 'told', login: 'to\u001b[2Jld\u202e' }
  const folder = tempFolder()
  const where = { config: folder.path, server, isLocal: true }
  const account = `your account "to\\u001b[2Jld\\u202e" at the code host of ${server}`
  const refuses = clicks()
  refuses.agrees = false
  const refused = await failureOf(logInWithCodehost({ ...where, person: refuses }, newApi))
  assert.equal([refused.name, refused.message], ['RequestFailed', 'nothing was joined, and you are not logged in'])
  assert.is(refuses.told, `A new user will be made, for this device (${hostname()}) and ${account}.`)
  assert.is((await readCredentials(folder.path, server))!.login, undefined)

  const { userId, namespaceSlug } = await logIn(folder.path, server, newApi)
  const [joins, known] = [clicks(), clicks()]
  assert.is((await logInWithCodehost({ ...where, person: joins }, newApi)).userId, userId)
  const user = `user ${userId} (namespace ${namespaceSlug})`
  const joined = `${account} will be joined to that user for good.`
  assert.is(joins.told, `This device (${hostname()}) belongs to ${user}: ${joined}`)
  await logInWithCodehost({ ...where, person: known }, newApi)
  assert.is(known.told, `This device (${hostname()}) will act with ${account}, as ${user}.`)
  folder.remove()
  provider.account = { id: '1', login: 'ada' }
})

test('where nobody can be asked nothing is begun', async () => {
  const person = { ...clicks(), agree: undefined }
  const error = await failureOf(logInWithCodehost({ config, server, isLocal: true, person }, newApi))
  assert.is(error.name, 'UsageError')
  assert.match(error.message, 'say yes with --yes')
})

test('a code for another state is not taken', async () => {
  const person = newPerson(async (authorizeUrl) => {
    const { headers } = await agree(await consent({ authorizeUrl }))
    const forged = new URL(headers.location!)
    forged.searchParams.set('state', 'another')
    assert.is((await fetch(forged)).status, 404)
    return fetch(headers.location!)
  })
  await logInWithCodehost({ config, server, isLocal: true, person }, newApi)
})

test("the namespace of a login is the user's on every device, that of the device its own", async () => {
  const { login } = (await readCredentials(config, server))!
  await world.call('POST', '/v1/namespaces', { token: login!.token, body: { slug: 'team', displayName: 'Team' } })
  await logIn(elsewhere, server, newApi)
  await logInWithCodehost({ config: elsewhere, server, isLocal: true, person: clicks() }, newApi)
  const where = { config: elsewhere, server, slug: 'team', readOnly: false }
  assert.match((await failureOf(connect(where, newApi))).message, 'This device may not use the namespace "team"')
  const slug = ' Team '
  const found = await logInWithCodehost({ config: elsewhere, server, slug, isLocal: true, person: clicks() }, newApi)
  assert.is(found.namespaceSlug, 'team')
  assert.is((await connect(where, newApi)).namespaceSlug, 'team')
})

test('a server without a code host says so', async () => {
  const database = await freshDatabase()
  const plain = await openApp(database.url)
  const url = await plain.app.listen({ port: 0, host: '127.0.0.1' })
  const error = await failureOf(logInWithCodehost({ config, server: url, isLocal: true, person: clicks() }, newApi))
  assert.match(error.message, /has no code host to sign in with/)
  await plain.close()
  await database.drop()
})

test('a code is found in what was copied', () => {
  assert.is(codeIn(' abc-_1\n'), 'abc-_1')
  assert.is(codeIn('http://127.0.0.1:5000/?state=s&exchangeCode=abc'), 'abc')
})

test.run()
