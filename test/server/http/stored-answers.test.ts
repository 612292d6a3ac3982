import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { buildApp } from '../../../src/server/service/app.ts'
import type { Service } from '../../../src/server/service/service.ts'
import { databaseUrl, freshDatabase, onServer } from '../../support/database.ts'
import { openApp } from '../../support/open-app.ts'

/** What an answer shows besides is read after the write: nobody may take a write that is stored for one that is not. */
const test = suite('http: the database goes away between a write and its answer')

const database = await freshDatabase()
const name = new URL(database.url).pathname.slice(1)
const server = databaseUrl(database.url, 'postgres')
const first = await openApp(database.url, { env: { SUMMARY_PROVIDER: 'none' } })
test.after(async () => {
  await first.close()
  await database.drop()
})

const cutReads = async () => {
  await onServer(server, `alter database "${name}" allow_connections false`)
  await onServer(
    server,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name = 'tracebook reads'`,
    [name],
  )
}
const mend = () => onServer(server, `alter database "${name}" allow_connections true`)

/** The database takes no more readers as soon as a write can be seen. */
const losingReads = (service: Service): Service => ({
  ...service,
  write: async (...request) => {
    const answer = await service.write(...request)
    await cutReads()
    return answer
  },
})

type Session = { token: string; userId: string }
const signIn = async (deviceId: string): Promise<Session> => {
  const { data } = await first.call('POST', '/v1/session', { body: { deviceId } })
  return (data as { session: Session }).session
}

const admin = await signIn('admin')
const member = await signIn('member')
await first.call('POST', '/v1/namespaces', { token: admin.token, body: { slug: 'team', displayName: 'Team' } })
const { data } = await first.call('POST', '/v1/namespaces/team/invites', { token: admin.token, body: {} })
const { code } = (data as { invite: { code: string } }).invite
await first.call('POST', `/v1/invites/${code}/accept`, { token: member.token })

const ask = async (method: 'PATCH' | 'POST', url: string, payload: object) => {
  const app = await buildApp(losingReads(first.service))
  try {
    const answer = await app.inject({ method, url, payload, headers: { authorization: `Bearer ${admin.token}` } })
    return { status: answer.statusCode, stored: answer.json().error?.details?.stored as unknown }
  } finally {
    await mend()
    await app.close()
  }
}

for (const [words, method, url, payload] of [
  ['a role', 'PATCH', `/v1/namespaces/team/members/${member.userId}`, { role: 'admin' }],
  ['the namespace of a session', 'POST', '/v1/session/switch', { slug: 'team' }],
] as const) {
  test(`${words} that was changed is reported as stored`, async () => {
    assert.equal(await ask(method, url, payload), { status: 503, stored: true })
  })
}

test.run()
