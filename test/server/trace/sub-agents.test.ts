import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Caller, type Person, callerOf, sharedWorld, signIn } from '../../support/world.ts'

const test = suite('trace: lists without sub-agents')

const { node } = await sharedWorld()

type Page = { traces: { externalId: string; childCount?: number }[]; nextCursor?: string }

let names = 0
/** Ids that no other test has: the feed has the public traces of all. */
const idsFor = (...ids: readonly string[]) => {
  const suffix = `-${++names}`
  return ids.map((id) => id + suffix)
}
const put = ({ send }: Person, externalId: string, body: object = {}) => send('PUT', `/v1/traces/${externalId}`, body)

/** The ids in a list, each with the number of its sub-agents. Of the feed only those of `ids`. */
const listed = async ({ send }: Caller, url: string, ids: readonly string[]) =>
  (await send<Page>('GET', url)).traces
    .filter(({ externalId }) => ids.includes(externalId))
    .map(({ externalId, childCount }) => [externalId, childCount])

const SORTS = ['', '&sort=startedAt', '&sort=updatedAt']

test('sub-agents stand below their parent, which has their number; forks and what has no parent here stand by themselves', async () => {
  const user = await signIn(node)
  const ids = idsFor('parent', 'called', 'of-old-clients', 'fork', 'resumed', 'orphan', 'below')
  const [parent, called, old, fork, resumed, orphan, below] = ids as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  await put(user, parent)
  await put(user, called, { parentExternalId: parent, parentKind: 'call', visibility: 'public' })
  await put(user, old, { parentExternalId: parent })
  await put(user, fork, { parentExternalId: parent, parentKind: 'fork' })
  await put(user, resumed, { parentExternalId: parent, parentKind: 'resume' })
  await put(user, orphan, { parentExternalId: 'not-here' })
  await put(user, below, { parentExternalId: called })
  const roots = [
    [orphan, 0],
    [resumed, 0],
    [fork, 0],
    [parent, 2],
  ] as const
  const sorted = (traces: readonly (readonly unknown[])[]) => JSON.stringify(traces.toSorted())
  const list = `/v1/namespaces/${user.namespaceSlug}/traces?children=false`
  for (const sort of SORTS)
    for (const url of [`${list}${sort}`, `${list}&limit=9${sort}`, `/v1/traces?children=false${sort}`])
      assert.is(sorted(await listed(user, url, ids)), sorted(roots), url)
  assert.equal(await listed(user, '/v1/feed?children=false&limit=1000', ids), roots)
  const first = await user.send<Page>('GET', `${list}&limit=3`)
  assert.equal(
    (await user.send<Page>('GET', `${list}&limit=3&cursor=${first.nextCursor}`)).traces.map(
      ({ externalId }) => externalId,
    ),
    [parent],
  )
  for (const url of ['/v1/traces', '/v1/traces?children=true'])
    assert.equal(
      (await listed(user, url, ids)).map(([, count]) => count),
      ids.map(() => undefined),
    )
  await user.send('DELETE', `/v1/traces/${parent}`)
  assert.is((await listed(user, list, ids)).length, 5, 'without it they stand by themselves')
})

test('whoever may not read the parent sees a public sub-agent by itself, and private ones are not counted', async () => {
  const [user, stranger, anybody] = [await signIn(node), await signIn(node), callerOf(node)]
  const ids = idsFor('parent', 'open', 'closed')
  const [parent, open, closed] = ids as [string, string, string]
  await put(user, parent)
  await put(user, open, { parentExternalId: parent, visibility: 'public' })
  await put(user, closed, { parentExternalId: parent })
  const urls = [`/v1/namespaces/${user.namespaceSlug}/traces?children=false`, '/v1/feed?children=false&limit=1000']
  for (const url of urls)
    for (const caller of [stranger, anybody]) assert.equal(await listed(caller, url, ids), [[open, 0]], url)
  await put(user, parent, { visibility: 'public' })
  for (const url of urls) {
    for (const caller of [stranger, anybody]) assert.equal(await listed(caller, url, ids), [[parent, 1]], url)
    assert.equal(await listed(user, url, ids), [[parent, 2]], url)
  }
})

test('a member of another namespace than the active one may read the parent there, too', async () => {
  const [user, guest] = [await signIn(node), await signIn(node)]
  const ids = idsFor('parent', 'open', 'closed')
  const [parent, open, closed] = ids as [string, string, string]
  const { namespace } = await user.send<{ namespace: { id: string; slug: string } }>('POST', '/v1/namespaces', {
    slug: `team-${names}`,
    displayName: 'Team',
  })
  const inTeam = (id: string, body: object) => user.send('PUT', `/v1/traces/${id}?namespace=${namespace.slug}`, body)
  await inTeam(parent, {})
  await inTeam(open, { parentExternalId: parent, visibility: 'public' })
  await inTeam(closed, { parentExternalId: parent })
  const feed = '/v1/feed?children=false&limit=1000'
  assert.equal(await listed(guest, feed, ids), [[open, 0]])
  await user.admit(namespace.slug, guest)
  assert.equal(await listed(guest, feed, ids), [])
})

test('a trace that names itself stands by itself, and another value is refused', async () => {
  const user = await signIn(node)
  const ids = idsFor('self')
  await put(user, ids[0]!, { parentExternalId: ids[0] })
  assert.equal(await listed(user, '/v1/traces?children=false', ids), [[ids[0], 0]])
  for (const url of ['/v1/traces', `/v1/namespaces/${user.namespaceSlug}/traces`, '/v1/feed'])
    assert.is((await user.ask('GET', `${url}?children=no`)).status, 400, url)
})

test.run()
