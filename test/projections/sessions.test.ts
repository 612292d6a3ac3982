import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { sessions } from '../../projections/sessions.ts'
import { NOON, type StreamEvent, decodedEvents, openModels } from './support.ts'

const test = suite('sessions')
const models = await openModels(sessions)
test.after(() => models.close())

const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`
const [user, identity, acme, other] = [id(6), id(7), id(8), id(9)]
const started = { userId: user, identityId: identity }
const unstorable = 'NUL \0, half \ud83d'

const story: StreamEvent[] = [
  {
    stream: `session-${id(1)}`,
    event: {
      type: 'SessionCreated',
      data: { ...started, tokenHash: 'one', deviceName: unstorable, expiresAt: NOON + 1 },
    },
  },
  {
    stream: `session-${id(2)}`,
    event: { type: 'SessionCreated', data: { ...started, tokenHash: 'two', namespaceId: acme } },
  },
  { stream: `session-${id(1)}`, event: { type: 'SessionSwitched', data: { namespaceId: acme } } },
  { stream: `session-${id(1)}`, event: { type: 'SessionSwitched', data: { namespaceId: other } } },
  { stream: `session-${id(2)}`, event: { type: 'SessionRevoked', data: {} } },
]

const nothing = { parent_session_id: null, namespace_id: null, device_name: null, expires_at: null, revoked_at: null }

for (const [title, size] of [
  ['in one batch', story.length],
  ['one by one', 1],
] as const) {
  test(`a session is switched and ended, ${title}`, async () => {
    const { apply, rows } = await models.model()
    const events = decodedEvents(story)
    for (let i = 0; i < events.length; i += size) await apply(events.slice(i, i + size))
    const common = { ...nothing, user_id: user, identity_id: identity }
    assert.equal(await rows('select * from sessions order by id'), [
      {
        ...common,
        id: id(1),
        token_hash: 'one',
        namespace_id: other,
        device_name: JSON.stringify(unstorable),
        created_at: BigInt(NOON),
        expires_at: BigInt(NOON + 1),
      },
      {
        ...common,
        id: id(2),
        token_hash: 'two',
        namespace_id: acme,
        created_at: BigInt(NOON + 1_000),
        revoked_at: BigInt(NOON + 4_000),
      },
    ])
  })
}

test.run()
