import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { invites } from '../../projections/invites.ts'
import { members } from '../../projections/members.ts'
import { namespaces } from '../../projections/namespaces.ts'
import { namespaceId } from '../../src/base/ids.ts'
import type { PresentNamespace } from '../../src/server/namespace/decide.ts'
import type { NamespaceEvent } from '../../src/server/namespace/events.ts'
import { histories, people } from '../server/namespace/histories.ts'
import { type Model, NOON, decodedEvents, openModels } from './support.ts'

const test = suite('namespaces, members, invites')
const models = await openModels(namespaces, members, invites)
test.after(() => models.close())

const acme = namespaceId('acme')
const stream = `namespace-${acme}`
const [ada, bob] = people as [string, string]
const founded: NamespaceEvent[] = [
  {
    type: 'NamespaceCreated',
    data: { slug: 'acme', displayName: 'Acme \0 \ud83d', type: 'org', claimedBy: 'user', createdBy: ada },
  },
  { type: 'MemberJoined', data: { userId: ada, role: 'admin' } },
]
const bobJoins: NamespaceEvent = {
  type: 'MemberJoined',
  data: { userId: bob, role: 'member', invitedBy: ada, code: 'c' },
}
const bobLeaves: NamespaceEvent = { type: 'MemberRemoved', data: { userId: bob } }
const invited: NamespaceEvent = {
  type: 'InviteCreated',
  data: { code: 'c', invitedBy: ada, role: 'member', expiresAt: NOON, maxUses: 0, email: 'bob@example.org' },
}

const decode = (...events: readonly NamespaceEvent[]) => decodedEvents(events.map((event) => ({ stream, event })))

/** What a model shows of one namespace. */
const shown = async ({ rows }: Model, id: string) => ({
  namespaces: await rows(`select * from namespaces where id = '${id}'`),
  members: await rows(`select * from members where namespace_id = '${id}' order by user_id`),
  invites: await rows(`select * from invites where namespace_id = '${id}' order by code`),
})

test('a member who leaves and joins again within one batch has the later time of joining', async () => {
  const model = await models.model()
  const events = decode(...founded, invited, bobJoins, bobLeaves, bobJoins)
  await model.apply(events.slice(0, 4))
  await model.apply(events.slice(4))
  const { members, invites } = await shown(model, acme)
  assert.equal(members.at(1), {
    namespace_id: acme,
    user_id: bob,
    role: 'member',
    invited_by: ada,
    joined_at: BigInt(NOON + 5_000),
  })
  const { use_count, accepted_at, accepted_by } = invites[0]!
  assert.equal([use_count, accepted_at, accepted_by], [2n, BigInt(NOON + 3_000), bob])
})

test('a member who joins, is promoted and leaves within one batch has no row', async () => {
  const model = await models.model()
  const promoted: NamespaceEvent = { type: 'MemberRoleChanged', data: { userId: bob, role: 'admin' } }
  await model.apply(decode(...founded, invited, bobJoins, promoted, bobLeaves))
  const { members } = await shown(model, acme)
  assert.equal(
    members.map(({ user_id }) => user_id),
    [ada],
  )
})

test('an invite is created, used and revoked within one batch', async () => {
  const model = await models.model()
  await model.apply(decode(...founded, invited, bobJoins, { type: 'InviteRevoked', data: { code: 'c' } }))
  assert.equal((await shown(model, acme)).invites, [
    {
      namespace_id: acme,
      code: 'c',
      role: 'member',
      invited_by: ada,
      email: '"bob@example.org"',
      max_uses: 0n,
      use_count: 1n,
      created_at: BigInt(NOON + 2_000),
      expires_at: BigInt(NOON),
      revoked_at: BigInt(NOON + 4_000),
      accepted_at: BigInt(NOON + 3_000),
      accepted_by: bob,
    },
  ])
})

/** Tables as the fold of the same events knows them. */
const expected = (state: PresentNamespace) => ({
  members: [...state.members].sort().map(([userId, { role, joinedAt }]) => [userId, role, BigInt(joinedAt)]),
  invites: [...state.invites]
    .sort()
    .map(([code, { useCount, revokedAt }]) => [code, BigInt(useCount), revokedAt !== undefined]),
  texts: [state.displayName, state.description],
  retention: [state.retentionDays ?? null],
})

const summary = ({ namespaces, members, invites }: Awaited<ReturnType<typeof shown>>) => {
  const parsed = (text: unknown) => (text === null ? undefined : JSON.parse(text as string))
  return {
    members: members.map(({ user_id, role, joined_at }) => [user_id, role, joined_at]),
    invites: invites.map(({ code, use_count, revoked_at }) => [code, use_count, revoked_at !== null]),
    retention: namespaces.map(({ retention_days }) => retention_days),
    texts: namespaces.flatMap(({ display_name, description }) => [parsed(display_name), parsed(description)]),
  }
}

test('the tables are equal to the fold, for any batches of a history', async () => {
  await fc.assert(
    fc.asyncProperty(histories, fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1 }), async (steps, sizes) => {
      const model = await models.model()
      const events = decodedEvents(steps.map(({ event, at }) => ({ stream, event, at })))
      for (let i = 0, cut = 0; i < events.length; cut++) {
        const size = sizes[cut % sizes.length]!
        await model.apply(events.slice(i, i + size))
        i += size
      }
      const result = await shown(model, acme)
      await model.close()
      assert.equal(summary(result), expected(steps.at(-1)!.after))
    }),
    { numRuns: 25 },
  )
})

test.run()
