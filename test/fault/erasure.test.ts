import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder } from '../embedded/support.ts'
import { onServer } from '../support/database.ts'
import { newRandom } from './support/random.ts'
import { type Service, serveOn } from './support/service.ts'
import { until } from '../support/until.ts'

const test = suite('fault/erasure')

const ROUNDS = 5
const KILL_WITHIN_MS = 60
const secretOf = (round: number) => `Schroedinger's cat number ${round}`

/** A trace that says its secret wherever it can, over more events than one step of the erasure takes. */
const tell = async (service: Service, token: string, round: number) => {
  const secret = secretOf(round)
  const path = `/v1/traces/t${round}`
  const put = { title: secret, projectPath: secret, gitRef: secret, visibility: 'public' }
  assert.is((await service.call('PUT', path, { token, body: put })).status, 200)
  for (let batch = 0; batch < 12; batch++) {
    const messages = Array.from({ length: 200 }, (_, i) => ({
      externalId: `${secret} ${batch}-${i}`,
      role: 'assistant',
      textContent: secret,
      parts: [{ type: 'tool_call', content: { callId: secret, toolName: secret, args: { [secret]: secret } } }],
    }))
    assert.is((await service.call('POST', `${path}/messages/batch`, { token, body: { messages } })).status, 200)
  }
}

/** Every table of the database, whoever made it, in which a text stands. */
const placesOf = async ({ databaseUrl }: Service, text: string): Promise<string[]> => {
  const { rows } = await onServer(
    databaseUrl,
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  const holds = async (table: string) => {
    const found = `select exists (select from ${table} t where strpos(t::text, $1) > 0) as there`
    return (await onServer(databaseUrl, found, [text])).rows[0]!.there as boolean
  }
  const names = rows.map(({ name }) => String(name))
  const there = await Promise.all(names.map(holds))
  return names.filter((_, i) => there[i])
}

const isDue = async ({ databaseUrl }: Service) =>
  (await onServer(databaseUrl, 'select from tracebook.erasures')).rows.length > 0

test('wherever the service is killed, what was deleted is soon nowhere', () =>
  inFolder(async (dataDir) => {
    const random = newRandom(Number(process.env.FAULT_SEED ?? '2'))
    let service = await serveOn(dataDir)
    const token = await service.signIn('device')
    for (let round = 0; round < ROUNDS; round++) {
      await tell(service, token, round)
      assert.ok((await placesOf(service, secretOf(round))).length >= 3)
      const path = `/v1/traces/t${round}`
      const asked = service.call('DELETE', path, { token }).catch(() => undefined)
      if (round % 2 === 0) await asked
      await setTimeout(random.int(KILL_WITHIN_MS))
      await service.end('SIGKILL')
      const deleted = (await asked)?.status === 200
      service = await serveOn(dataDir)
      const { status } = await service.call('GET', path, { token })
      if (deleted) assert.is(status, 404)
      if (status === 200) await service.call('DELETE', path, { token })
      await until(async () => !(await isDue(service)) && (await placesOf(service, secretOf(round))).length === 0)
    }
    assert.is(await service.end('SIGTERM'), 0)
  }))

test.run()
