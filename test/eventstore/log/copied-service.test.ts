import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { dumpSchema } from '../../support/dump-schema.ts'
import { startDouble } from '../../support/eventstoredb/server.ts'
import type { App } from '../../support/open-app.ts'
import { sweepAll } from '../../support/sweep.ts'
import { type Told, historySettings, writeCatalogue, writeHistory } from './support/history.ts'
import { until } from '../../support/until.ts'
import { WITH_WORKER, newEmptyWorld } from '../../support/world.ts'

const schema = schemaOf(mainGroup)

const test = suite('a service on a copied log')
const ends: (() => Promise<unknown>)[] = []
test.after.each(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const main = join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts')
const tracebook = (...words: string[]) => promisify(execFile)(process.execPath, [main, ...words])

/** A copy numbers the events of a stream without those that were truncated: revisions may be others. */
const withoutRevision = (body: string) => body.replace(/,"revision":\d+\}\}$/, '}}')

/** What the routes show of it, otherwise to the letter. */
const shown = async ({ app }: App, { token, traces }: Told) => {
  const paths = [
    '/v1/feed?limit=1000',
    '/v1/models',
    '/v1/namespaces',
    '/v1/namespaces/team/members',
    '/v1/namespaces/team/invites',
    '/v1/namespaces/team/traces',
    '/v1/namespaces/team/commits',
    '/v1/traces/gone',
    ...traces.flatMap((trace) => [`/v1/traces/${trace}`, `/v1/traces/${trace}/messages?includeParts=true`]),
  ]
  const answers = await Promise.all(
    paths.map(async (url) => (await app.inject({ url, headers: { authorization: `Bearer ${token}` } })).body),
  )
  return Object.fromEntries(paths.map((path, i) => [path, withoutRevision(answers[i]!)]))
}

/** A service with a history, then its log copied, then another service on the copy, in a database of its own. */
const copied = async (direction: 'to EventStoreDB' | 'to Postgres') => {
  const double = await startDouble()
  const worlds = [
    await newEmptyWorld({ readModels: false, env: WITH_WORKER }),
    await newEmptyWorld({ readModels: false, env: WITH_WORKER }),
  ] as const
  const [first, second] = [worlds[0].database, worlds[1].database]
  const folder = await mkdtemp(join(tmpdir(), 'tracebook-copied-'))
  ends.push(double.stop, ...worlds.map(({ close }) => close), () => rm(folder, { recursive: true }))
  const [there, here] = [{ EVENTSTORE_URL: double.url }, { EVENTSTORE_URL: '' }]
  const [from, to] = direction === 'to Postgres' ? [there, here] : [here, there]
  await writeCatalogue(folder, '2026-01')
  const source = await worlds[0].openNode({ env: { ...historySettings(folder), ...from } })
  const { position } = await source.service.catalogue.refresh()
  await source.service.visible(position)
  const told = await writeHistory(source, first.url)
  const [answers, head] = [await shown(source, told), await source.service.log.head()]
  await source.service.visible(head)
  await source.close()

  const { stdout } = await tracebook(
    ...['log', 'copy', '--from', from.EVENTSTORE_URL || first.url, '--to', to.EVENTSTORE_URL || second.url],
  )
  assert.match(stdout, 'Verified')
  const target = await worlds[1].openNode({ env: { ...historySettings(folder), CATALOGUE_URL: 'none', ...to } })
  await until(async () => (await target.service.readiness()).missing.length === 0)
  await target.service.visible(await target.service.log.head())
  return { first, second, told, answers, target }
}

/** Tables that hold nothing as long as all is well. */
const EMPTY = new Set(['obsolete_rows', 'quarantine'])

for (const direction of ['to EventStoreDB', 'to Postgres'] as const) {
  test(`${direction}: read models and answers are the same, and writes go on`, async () => {
    const { first, second, told, answers, target } = await copied(direction)
    for (const { url } of [first, second]) await sweepAll(url)
    const [expected, found] = await Promise.all(
      [first, second].map(({ url }) => dumpSchema(url, schema, { places: false })),
    )
    for (const [table, lines] of Object.entries(expected!)) {
      assert.ok(lines.length > 0 || EMPTY.has(table), `the history has nothing for ${table}`)
      assert.equal(found![table], lines, table)
    }
    assert.equal(Object.keys(found!), Object.keys(expected!))
    assert.equal(await shown(target, told), answers)

    const gone = await target.call('PUT', '/v1/traces/gone?unlessDeleted=true', { token: told.token, body: {} })
    assert.is(gone.status, 410, 'what was deleted is remembered')

    for (const trace of [...told.traces, 'gone', 'new']) {
      const url = `/v1/traces/${trace}`
      assert.is((await target.call('PUT', url, { token: told.token, body: {} })).status, 200)
      const messages = [{ externalId: 'more', role: 'user', textContent: 'more' }]
      for (const wanted of ['created', 'unchanged']) {
        const { data } = await target.call('POST', `${url}/messages/batch`, { token: told.token, body: { messages } })
        assert.is((data as { messages: { result: string }[] }).messages[0]!.result, wanted)
      }
    }
  })
}

test.run()
