import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestFailed } from '../../../src/client/api/errors.ts'
import { readCredentials, writeCredentials } from '../../../src/client/login/credentials.ts'
import { followNamespace, rememberMembership, wasIn } from '../../../src/client/login/membership.ts'
import { tempFolder } from '../support/temp.ts'

type Context = { config: string; remove: () => void }
const test = suite<Context>('the namespaces that a login has been in')
const server = 'http://127.0.0.1:3000'

test.before.each(async (context) => {
  const { path, remove } = tempFolder()
  Object.assign(context, { config: path, remove })
  const login = { token: 'tb_x', userId: 'u', namespaceId: 'id of acme', namespaceSlug: 'acme', at: 1 }
  await writeCredentials(path, { server, deviceId: randomUUID(), login, others: [] })
})
test.after.each(({ remove }) => remove())

const loginIn = async (config: string) => (await readCredentials(config, server))!.login!

type Role = 'admin' | 'member' | undefined
/** A service that says which role the user has in the namespace, or refuses to. */
const serviceSaying = (answer: Role | RequestFailed) => ({
  namespace: async (slug: string) => {
    if (answer instanceof RequestFailed) throw answer
    return { id: `id of ${slug}`, slug, displayName: slug, type: 'org' as const, role: answer! }
  },
})

/** Follows the login into another namespace, and gives what was said. */
const follow = async (
  config: string,
  answer: Role | RequestFailed,
  { slug = 'ada', isOwn = true, isRead = true } = {},
) => {
  const said: string[] = []
  const tell = (message: string) => {
    said.push(message)
    return isRead
  }
  const known = { server, login: await loginIn(config) }
  const present = { id: `id of ${slug}`, slug, isOwn }
  const lost = await followNamespace(config, known, serviceSaying(answer), present, tell)
  return { said, lost }
}

const LOSS = ['you are no longer in @acme: going on in @ada']
const gone = new RequestFailed('Not found', { status: 404 })

for (const [what, answer] of [
  ['the user is no member of it', undefined],
  ['it does not exist any more', gone],
] as const)
  test(`a namespace is lost if ${what}, and that is said once`, async ({ config }) => {
    assert.equal(await follow(config, answer), { said: LOSS, lost: undefined })
    assert.equal(await follow(config, answer), { said: [], lost: undefined })
    const login = await loginIn(config)
    assert.equal([login.namespaceSlug, login.memberOf, wasIn(login, 'acme')], ['ada', ['acme'], true])
  })

test('what nobody has read is said again', async ({ config }) => {
  for (let i = 0; i < 2; i++) assert.equal((await follow(config, undefined, { isRead: false })).said, LOSS)
  assert.equal((await follow(config, undefined)).said, LOSS)
})

test('a login that was switched elsewhere has lost nothing', async ({ config }) => {
  assert.equal(await follow(config, 'member'), { said: [], lost: undefined })
  assert.is((await loginIn(config)).namespaceSlug, 'ada')
})

test('a service that does not answer leaves everything as it is', async ({ config }) => {
  const before = await loginIn(config)
  const failed = await follow(config, new RequestFailed('busy', { status: 503 })).catch((error: Error) => error.message)
  assert.equal([failed, await loginIn(config)], ['busy', before])
})

test('a namespace of other people is not chosen until the user does so', async ({ config }) => {
  const elsewhere = { slug: 'globex', isOwn: false }
  const first = await follow(config, undefined, elsewhere)
  assert.equal(first, { said: ['you are no longer in @acme: going on in @globex'], lost: 'acme' })
  assert.equal(await follow(config, undefined, elsewhere), { said: [], lost: 'acme' })
  assert.equal(await follow(config, undefined), {
    said: ['you are no longer in @globex: going on in @ada'],
    lost: undefined,
  })
  assert.is((await loginIn(config)).lost, undefined)
})

test('memberships are remembered once', async ({ config }) => {
  for (const slug of ['team', 'team', 'acme']) await rememberMembership(config, server, slug)
  assert.equal((await loginIn(config)).memberOf, ['team'])
})

test.run()
