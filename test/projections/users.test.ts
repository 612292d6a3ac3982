import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { identities } from '../../projections/identities.ts'
import { users } from '../../projections/users.ts'
import { NOON, type Told, happenings, openModels } from './support.ts'

const test = suite('users and identities')
const models = await openModels(users, identities)
test.after(() => models.close())

const [ada, bob] = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b']
const unstorable = 'NUL \0, half \ud83d, "quoted"'

const story: Told[] = [
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
]

for (const [title, size] of [
  ['in one batch', story.length],
  ['one by one', 1],
] as const) {
  test(`what is said last stands, ${title}`, async () => {
    const { apply, rows } = await models.model()
    const events = happenings(story)
    for (let i = 0; i < events.length; i += size) await apply(events.slice(i, i + size))
    assert.equal(await rows('select * from users order by id'), [
      { id: ada, display_name: JSON.stringify(unstorable) },
      { id: bob, display_name: '"Bob"' },
    ])
    assert.equal(await rows('select * from identities'), [
      {
        id: ada,
        user_id: ada,
        type: 'codehost',
        provider_data: JSON.stringify({ login: unstorable }),
        email: '"ada@example.org"',
        email_verified: true,
        created_at: BigInt(NOON + 2_000),
      },
    ])
  })
}

test.run()
