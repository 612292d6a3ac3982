import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { identities } from '../../projections/identities.ts'
import { users } from '../../projections/users.ts'
import { identityId } from '../../src/base/ids.ts'
import { NOON, type StreamEvent, decodedEvents, openModels } from './support.ts'

const test = suite('users and identities')
const models = await openModels(users, identities)
test.after(() => models.close())

const [ada, bob] = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b']
const [laptop, again] = [identityId('device', 'k'), identityId('device', 'k', 1)]
const unstorable = 'NUL \0, half \ud83d, "quoted"'

const story: StreamEvent[] = [
  { stream: `user-${ada}`, event: { type: 'UserCreated', data: {} } },
  { stream: `user-${bob}`, event: { type: 'UserCreated', data: { displayName: 'Bob' } } },
  {
    stream: `identity-${ada}`,
    event: {
      type: 'IdentityCreated',
      data: { userId: ada, type: 'codehost', key: 'k', email: 'ada@example.org', emailVerified: false },
    },
  },
  { stream: `user-${ada}`, event: { type: 'UserRenamed', data: { displayName: 'Ada' } } },
  { stream: `user-${ada}`, event: { type: 'UserRenamed', data: { displayName: unstorable } } },
  {
    stream: `identity-${ada}`,
    event: { type: 'IdentityRefreshed', data: { emailVerified: true, providerData: { login: unstorable } } },
  },
  {
    stream: `identity-${laptop}`,
    event: { type: 'IdentityCreated', data: { userId: ada, type: 'device', key: 'k' } },
  },
  { stream: `identity-${laptop}`, event: { type: 'IdentityNamed', data: { name: 'my laptop' } } },
  { stream: `identity-${laptop}`, event: { type: 'IdentityNamed', data: { name: unstorable } } },
  { stream: `user-${ada}`, event: { type: 'IdentityRemoved', data: { identityId: laptop } } },
  {
    stream: `identity-${again}`,
    event: { type: 'IdentityCreated', data: { userId: bob, type: 'device', key: 'k' } },
  },
]

for (const [title, size] of [
  ['in one batch', story.length],
  ['one by one', 1],
] as const) {
  test(`the last value counts, ${title}`, async () => {
    const { apply, rows } = await models.model()
    const events = decodedEvents(story)
    for (let i = 0; i < events.length; i += size) await apply(events.slice(i, i + size))
    assert.equal(await rows('select * from users order by id'), [
      { id: ada, display_name: JSON.stringify(unstorable) },
      { id: bob, display_name: '"Bob"' },
    ])
    assert.equal(await rows("select * from identities where type = 'codehost'"), [
      {
        id: ada,
        first_id: identityId('codehost', 'k'),
        user_id: ada,
        type: 'codehost',
        provider_data: JSON.stringify({ login: unstorable }),
        email: '"ada@example.org"',
        email_verified: true,
        name: null,
        created_at: BigInt(NOON + 2_000),
      },
    ])
    const devices = "select id, first_id, user_id, name from identities where type = 'device' order by created_at"
    assert.equal(await rows(devices), [
      { id: laptop, first_id: laptop, user_id: ada, name: JSON.stringify(unstorable) },
      { id: again, first_id: laptop, user_id: bob, name: null },
    ])
    assert.equal(await rows('select * from removed_identities'), [{ id: laptop, user_id: ada }])
  })
}

test.run()
