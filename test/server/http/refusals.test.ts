import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { NewSession } from '../../../src/contract/sessions.ts'
import { openWorld, signIn } from '../../support/world.ts'

const test = suite('refusals in the log')
const lines: string[] = []
const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
const { node, openNode } = await openWorld(test, { logger })
const { call } = node
test.before.each(() => void (lines.length = 0))

const [ada, eve] = [await signIn(node), await signIn(node)]
await ada.newTrace({}, [], 'private')
await ada.newTrace({ visibility: 'public' }, [], 'public')
const invites = `/v1/namespaces/${ada.namespaceSlug}/invites`
const { invite } = await ada.send<{ invite: { code: string } }>('POST', invites, { email: 'a@example.org' })

const who = ({ userId, id }: NewSession) => ({ userId, sessionId: id, via: 'bearer' })
const cookie = { cookie: `tracebook=${eve.token}` }

for (const [name, ask, refused, caller, what] of [
  [
    'nobody',
    () => call('GET', '/v1/traces/private'),
    'unauthorized',
    {},
    { method: 'GET', route: '/v1/traces/:externalId', externalId: 'private' },
  ],
  [
    'a token that is none',
    () => call('GET', '/v1/user', { token: 'tb_made-up' }),
    'unauthorized',
    {},
    { method: 'GET', route: '/v1/user' },
  ],
  [
    'a stranger who reads',
    () => eve.ask('GET', '/v1/traces/private'),
    'hidden',
    who(eve),
    { method: 'GET', route: '/v1/traces/:externalId', externalId: 'private' },
  ],
  [
    'a stranger who writes',
    () => eve.ask('DELETE', '/v1/traces/public'),
    'hidden',
    who(eve),
    { method: 'DELETE', route: '/v1/traces/:externalId', externalId: 'public' },
  ],
  [
    "a stranger among a namespace's members",
    () => eve.ask('GET', `/v1/namespaces/${ada.namespaceSlug}/members`),
    'forbidden',
    who(eve),
    { method: 'GET', route: '/v1/namespaces/:slug/members', slug: ada.namespaceSlug },
  ],
  [
    "who ends somebody else's session",
    () => eve.ask('DELETE', `/v1/sessions/${ada.id}`),
    'hidden',
    who(eve),
    { method: 'DELETE', route: '/v1/sessions/:id', id: ada.id },
  ],
  [
    'who has an invite for somebody else',
    () => eve.ask('POST', `/v1/invites/${invite.code}/accept`),
    'forbidden',
    who(eve),
    { method: 'POST', route: '/v1/invites/:code/accept', code: '[masked]' },
  ],
  [
    'a page of another origin',
    () => call('PATCH', '/v1/user', { headers: cookie, body: {} }),
    'csrf_failed',
    {},
    { method: 'PATCH', route: '/v1/user' },
  ],
] as const) {
  test(`${name} is logged once, as ${refused}, without secrets`, async () => {
    await ask()
    assert.is(lines.length, 1)
    const {
      level: _1,
      time: _2,
      pid: _3,
      hostname: _4,
      reqId: _5,
      ...line
    } = JSON.parse(lines[0]!) as Record<string, unknown>
    assert.equal(line, { refused, ip: '127.0.0.1', ...caller, what, msg: 'refused' })
    for (const secret of [ada.token, eve.token, invite.code, 'made-up']) assert.not.ok(lines[0]!.includes(secret))
  })
}

test('successes, 404 and 400 are not logged as refusals', async () => {
  await call('GET', '/v1/traces/public')
  await eve.ask('GET', '/v1/traces/unknown')
  await eve.ask('PATCH', '/v1/user', { displayName: 1 })
  assert.equal(lines, [])
})

test('a foreign host gets one line, however often it is sent', async () => {
  for (let i = 0; i < 10; i++) await call('GET', '/v1/feed', { headers: { host: `evil-${i}.example` } })
  assert.is(lines.length, 1)
  const { refused, host, ip } = JSON.parse(lines[0]!) as Record<string, unknown>
  assert.equal({ refused, host, ip }, { refused: 'host', host: 'evil-0.example', ip: '127.0.0.1' })
})

test('repeated refusals of one caller are counted, and the counts are logged', async () => {
  const other = await openNode()
  const [mallory, trent] = [await signIn(node), await signIn(node)]
  lines.length = 0
  for (let i = 0; i < 30; i++) await other.call('GET', '/v1/traces/private', { token: mallory.token })
  assert.is(lines.length, 20)
  await other.call('GET', '/v1/traces/private', { token: trent.token })
  assert.is(lines.length, 21, 'others have lines of their own')
  lines.length = 0
  await other.close()
  const counts = lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ count }) => count)
  assert.equal(
    counts.map(({ refused, count }) => ({ refused, count })),
    [{ refused: 'hidden', count: 10 }],
  )
})

test.run()
