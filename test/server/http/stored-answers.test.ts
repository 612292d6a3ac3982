import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { buildApp } from '../../../src/server/service/app.ts'
import type { Service } from '../../../src/server/service/service.ts'
import { databaseUrl, onServer } from '../../support/database.ts'
import { openWorld, signIn } from '../../support/world.ts'

/** What an answer shows besides is read after the write: nobody may take a write that is stored for one that is not. */
const test = suite('http: the database goes away between a write and its answer')

const { database, node: first } = await openWorld(test, { env: { SUMMARY_PROVIDER: 'none' } })
const name = new URL(database.url).pathname.slice(1)
const server = databaseUrl(database.url, 'postgres')

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

const [admin, member] = [await signIn(first), await signIn(first)]
await admin.newTeam('team')
await admin.admit('team', member)

const ask = async (method: 'PATCH' | 'POST', url: string, payload: object) => {
  const app = await buildApp(losingReads(first.service))
  try {
    const answer = await app.inject({ method, url, payload, headers: admin.headers })
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
