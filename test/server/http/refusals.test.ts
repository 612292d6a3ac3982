import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { NewSession } from '../../../src/contract/sessions.ts'
import { freshDatabase } from '../../support/database.ts'
import { openApp } from '../../support/open-app.ts'

const test = suite('refusals in the log')
const lines: string[] = []
const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
const database = await freshDatabase()
const { call, close } = await openApp(database.url, { logger })
test.before.each(() => void (lines.length = 0))
test.after(async () => {
  await close()
  await database.drop()
})

const start = async (deviceId: string) =>
  ((await call('POST', '/v1/session', { body: { deviceId } })).data as { session: NewSession }).session
const [ada, eve] = [await start('ada'), await start('eve')]
await call('PUT', '/v1/traces/private', { token: ada.token, body: {} })
await call('PUT', '/v1/traces/public', { token: ada.token, body: { visibility: 'public' } })
const invites = `/v1/namespaces/${ada.namespaceSlug}/invites`
const { invite } = (await call('POST', invites, { token: ada.token, body: { email: 'a@example.org' } })).data as {
  invite: { code: string }
}

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
    () => call('GET', '/v1/traces/private', { token: eve.token }),
    'hidden',
    who(eve),
    { method: 'GET', route: '/v1/traces/:externalId', externalId: 'private' },
  ],
  [
    'a stranger who writes',
    () => call('DELETE', '/v1/traces/public', { token: eve.token }),
    'hidden',
    who(eve),
    { method: 'DELETE', route: '/v1/traces/:externalId', externalId: 'public' },
  ],
  [
    "a stranger among a namespace's members",
    () => call('GET', `/v1/namespaces/${ada.namespaceSlug}/members`, { token: eve.token }),
    'forbidden',
    who(eve),
    { method: 'GET', route: '/v1/namespaces/:slug/members', slug: ada.namespaceSlug },
  ],
  [
    "who ends somebody else's session",
    () => call('DELETE', `/v1/sessions/${ada.id}`, { token: eve.token }),
    'hidden',
    who(eve),
    { method: 'DELETE', route: '/v1/sessions/:id', id: ada.id },
  ],
  [
    'who has an invite for somebody else',
    () => call('POST', `/v1/invites/${invite.code}/accept`, { token: eve.token }),
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
  await call('GET', '/v1/traces/unknown', { token: eve.token })
  await call('PATCH', '/v1/user', { token: eve.token, body: { displayName: 1 } })
  assert.equal(lines, [])
})

test('a foreign host gets one line, however often it is sent', async () => {
  for (let i = 0; i < 10; i++) await call('GET', '/v1/feed', { headers: { host: `evil-${i}.example` } })
  assert.is(lines.length, 1)
  const { refused, host, ip } = JSON.parse(lines[0]!) as Record<string, unknown>
  assert.equal({ refused, host, ip }, { refused: 'host', host: 'evil-0.example', ip: '127.0.0.1' })
})

test('repeated refusals of one caller are counted, and the counts are logged', async () => {
  const other = await openApp(database.url, { logger })
  const [mallory, trent] = [await start('mallory'), await start('trent')]
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
