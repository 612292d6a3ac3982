import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { groups } from '../../projections/index.ts'
import { schemaOf } from '../../src/eventstore/engine/group.ts'
import { startPostgres } from '../../src/eventstore/embedded/postgres.ts'
import { inFolder } from '../eventstore/embedded/support.ts'
import { onServer, withConnection } from '../support/database.ts'
import { eventStoreUrlOf, logEnvironment } from '../support/log-place.ts'
import { isDue, placesOf, quarantined } from './support/erased.ts'
import { newRandom } from './support/random.ts'
import { rebuildNow } from './support/rebuilding.ts'
import { runs } from '../support/runs.ts'
import { type Service, serveOn } from './support/service.ts'
import { until } from '../support/until.ts'

const test = suite('fault/erasure')

const quiet = { info: () => {}, warn: () => {}, error: () => {} }

const ROUNDS = runs(2)
const KILL_WITHIN_MS = 400
const BATCHES = 30
const secretOf = (round: number) => `Schroedinger's cat number ${round}`

/** A trace that says its secret wherever it can, over more events than one step of the erasure takes; gives its id. */
const tell = async (service: Service, token: string, round: number): Promise<string> => {
  const secret = secretOf(round)
  const path = `/v1/traces/t${round}`
  const put = { title: secret, projectPath: secret, gitRef: secret, visibility: 'public' }
  const { data } = await service.call('PUT', path, { token, body: put })
  for (let batch = 0; batch < BATCHES; batch++) {
    const messages = Array.from({ length: 200 }, (_, i) => ({
      externalId: `${secret} ${batch}-${i}`,
      role: 'assistant',
      textContent: secret,
      parts: [{ type: 'tool_call', content: { callId: secret, toolName: secret, args: { [secret]: secret } } }],
    }))
    assert.is((await service.call('POST', `${path}/messages/batch`, { token, body: { messages } })).status, 200)
  }
  return (data as { trace: { id: string } }).trace.id
}

/** Resolves when the log in PostgreSQL has deleted some of a trace's events. */
const truncationBegins = ({ databaseUrl }: Service, id: string) =>
  withConnection(databaseUrl, async (client) => {
    const count = async () =>
      (await client.query('select count(*)::int4 as n from log.events where stream = $1', [`trace-${id}`])).rows[0].n
    const all = await count()
    await until(async () => (await count()) < all)
  })

/** As another version finds them, which builds its own. */
const dropReadModels = async (dataDir: string) => {
  const server = await startPostgres({ dataDir, log: quiet })
  for (const group of groups) await onServer(server.url, `drop schema ${schemaOf(group)} cascade`)
  await server.stop('fast')
}

test('wherever the service is killed, deleted content is soon nowhere, even in read models that are rebuilt then', () =>
  inFolder(async (dataDir) => {
    const random = newRandom(Number(process.env.FAULT_SEED ?? '2'))
    let service = await serveOn(dataDir)
    const environment = () => ({ DATABASE_URL: service.databaseUrl, ...logEnvironment(dataDir) })
    const token = await service.signIn('device')
    for (let round = 0; round < ROUNDS; round++) {
      const id = await tell(service, token, round)
      assert.ok((await placesOf(service, secretOf(round))).length >= 3)
      const path = `/v1/traces/t${round}`
      const asked = service.call('DELETE', path, { token }).catch(() => undefined)
      if (round % 2 === 0 && !eventStoreUrlOf(dataDir)) await truncationBegins(service, id)
      else await setTimeout(random.int(KILL_WITHIN_MS))
      await service.end('SIGKILL')
      const deleted = (await asked)?.status === 200
      if (round % 2 === 0) await dropReadModels(dataDir)
      service = await serveOn(dataDir)
      if (round % 2 === 1) await rebuildNow({ environment })
      assert.is(await quarantined(service), 0)
      const { status } = await service.call('GET', path, { token })
      if (deleted) assert.is(status, 404)
      if (status === 200) await service.call('DELETE', path, { token })
      await until(async () => !(await isDue(service)) && (await placesOf(service, secretOf(round))).length === 0)
    }
    assert.is(await service.end('SIGTERM'), 0)
  }))

test.run()
