import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { groups } from '../../../projections/index.ts'
import { findingsOf } from '../proof/verify/support.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { type Database, onServer } from '../../support/database.ts'
import type { App } from '../../support/open-app.ts'
import { WITH_WORKER, type Person, openWorld, signIn } from '../../support/world.ts'
import { until } from '../../support/until.ts'
import { eventsOf, notedIn } from './support.ts'

const test = suite('erasure: interrupted')
const { node, openNode, database } = await openWorld(test, { env: WITH_WORKER })

const MESSAGES = 3_000

/** A trace of more events than one step of a truncation takes; gives its id. */
const writeLargeTrace = async (owner: Person): Promise<string> => {
  const messages = Array.from({ length: MESSAGES }, (_, i) => ({
    externalId: `m${i}`,
    role: 'user',
    textContent: 'secret',
  }))
  return (await owner.newTrace({ title: 'secret' }, messages, 't')).id
}

/** The log deletes no event of this revision or an earlier one, until it is allowed to. */
const refuseDeletion = async ({ url }: Database, revision: number) => {
  await onServer(
    url,
    `create function log.refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
     create trigger refuse before delete on log.appends for each row
       when (old.revision <= ${revision}) execute function log.refuse()`,
  )
  return () => onServer(url, 'drop trigger refuse on log.appends')
}

/** Drops all read models, as if this were another version, which builds its own. */
const dropReadModels = async ({ url }: Database) => {
  for (const group of groups) await onServer(url, `drop schema ${schemaOf(group)} cascade`)
}

const quarantined = async ({ url }: Database): Promise<string[]> => {
  const found: string[] = []
  for (const group of groups)
    found.push(
      ...(await onServer(url, `select stream from ${schemaOf(group)}.quarantine`)).rows.map(
        ({ stream }) => stream as string,
      ),
    )
  return found
}

const revisionsOf = async ({ url }: Database, id: string): Promise<number[]> => {
  const { rows } = await onServer(url, 'select revision::int4 from log.events where stream = $1 order by revision', [
    `trace-${id}`,
  ])
  return rows.map(({ revision }) => revision as number)
}

/** A service whose erasure of a large trace was cut off, and that is stopped. */
const cutOff = async (node: App, database: Database, { keeps }: { keeps: number }) => {
  const owner = await signIn(node)
  const id = await writeLargeTrace(owner)
  const allowDeletion = await refuseDeletion(database, keeps)
  await owner.send('DELETE', '/v1/traces/t')
  await until(async () => (await notedIn(database)).some(({ attempts }) => attempts > 0))
  await node.close()
  return { id, token: owner.token, allowDeletion }
}

const untilErased = (app: App, database: Database, id: string) =>
  until(async () => (await notedIn(database)).length === 0 && `${await eventsOf(app, id)}` === 'TraceDeleted')

test('an interrupted erasure keeps the events that new read models are built from', async () => {
  const { id, token, allowDeletion } = await cutOff(node, database, { keeps: 500 })
  const left = await revisionsOf(database, id)
  assert.equal(
    left.slice(0, -1),
    Array.from({ length: left.length - 1 }, (_, i) => i),
  )
  assert.ok(left.length > 500 && left.length < MESSAGES, `${left.length} events are left`)
  assert.equal(
    await findingsOf(database),
    [],
    'what is left is whole appends, before a deletion that explains the rest',
  )
  await dropReadModels(database)
  const app = await openNode()
  assert.equal(await quarantined(database), [])
  assert.is((await app.call('GET', '/v1/traces/t', { token })).status, 404)
  await allowDeletion()
  await untilErased(app, database, id)
  assert.is((await app.call('PUT', '/v1/traces/t', { token, body: { title: 'anew' } })).status, 200)
})

test.run()
