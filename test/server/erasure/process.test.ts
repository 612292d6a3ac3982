import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { rebuild } from '../../../src/eventstore/engine/rebuild.ts'
import { all } from '../../eventstore/log/support/events.ts'
import { openBareLog } from '../../support/bare-log.ts'
import { dumpSchema } from '../../support/dump-schema.ts'
import { type Database, onServer, withConnection } from '../../support/database.ts'
import type { App } from '../../support/open-app.ts'
import { until } from '../../support/until.ts'
import { WITH_WORKER, type World, callerOf, newWorld, signIn } from '../../support/world.ts'

const schema = schemaOf(mainGroup)

type Scene = World & { app: App; token: string }

const test = suite<Scene>('erasure/process')
test.before.each(async (scene) => {
  Object.assign(scene, await newWorld({ env: WITH_WORKER }))
  scene.app = scene.node
  scene.token = (await signIn(scene.app)).token
})
test.after.each(({ close }) => close())

const SECRET = 'the cat is called Schroedinger'

/** A trace that says the secret wherever it can. */
const tell = async (app: App, token: string, trace: string, secret = SECRET) => {
  const { send } = callerOf(app, token)
  await send('PUT', `/v1/traces/${trace}`, { title: secret, projectPath: secret, visibility: 'public' })
  const messages = Array.from({ length: 40 }, (_, i) => ({
    externalId: `${secret} ${i}`,
    role: 'assistant',
    textContent: secret,
    parts: [{ type: 'tool_call', content: { callId: 'c', toolName: secret, args: { [secret]: secret } } }],
  }))
  await send('POST', `/v1/traces/${trace}/messages/batch`, { messages })
}

const idOf = async (app: App, token: string, trace: string): Promise<string> =>
  (await callerOf(app, token).send<{ trace: { id: string } }>('GET', `/v1/traces/${trace}`)).trace.id

type Message = { readonly textContent?: string }
const messagesOf = async (app: App, token: string, trace: string): Promise<readonly Message[]> => {
  const url = `/v1/traces/${trace}/messages?includeParts=true`
  return (await callerOf(app, token).send<{ messages: Message[] }>('GET', url)).messages
}

/** Everywhere in the log and in the database that a text stands. */
const placesOf = async ({ url }: Database, text: string): Promise<string[]> => {
  const log = openBareLog(url)
  const events = await all(log.readAll({ after: 0n })).finally(() => log.close())
  const told = events.filter(({ data, metadata }) => `${data}${metadata}`.includes(text)).map(({ type }) => type)
  const { rows } = await onServer(
    url,
    `select type from log.events where data::text like $1 or metadata::text like $1`,
    [`%${text}%`],
  )
  const models = Object.entries(await dumpSchema(url, schema))
  const tables = models.filter(([, lines]) => lines.some((line) => line.includes(text))).map(([table]) => table)
  return [...told, ...rows.map(({ type }) => String(type)), ...tables]
}

/** What is cheap to see is asked first, on one connection: it is asked again and again. */
const NEARLY = 'select from tracebook.erasures union all select from log.events where data::text like $1 limit 1'

const untilErased = (database: Database, text = SECRET) =>
  withConnection(database.url, (client) =>
    until(async () => {
      const { rows } = await client.query(NEARLY, [`%${text}%`])
      return rows.length === 0 && (await placesOf(database, text)).length === 0
    }),
  )

test('a deleted trace cannot be read, and is soon erased everywhere', async ({ app, database, token }) => {
  await tell(app, token, 't')
  assert.ok((await placesOf(database, SECRET)).length > 5)
  assert.is((await app.call('DELETE', '/v1/traces/t', { token })).status, 200)
  for (const url of ['/v1/traces/t', '/v1/traces/t/messages?includeParts=true']) {
    assert.is((await app.call('GET', url, { token })).status, 404)
    assert.is((await app.call('GET', url)).status, 404)
  }
  assert.not.match(JSON.stringify(await app.call('GET', '/v1/feed')), SECRET)
  await untilErased(database)
})

test('wherever the service is stopped, the next one completes the erasure', async (scene) => {
  const { database, token } = scene
  for (let round = 0; round < 6; round++) {
    await tell(scene.app, token, 't')
    await scene.app.call('DELETE', '/v1/traces/t', { token })
    const due = async () => (await onServer(database.url, 'select from tracebook.erasures')).rows.length > 0
    if (round % 2) await Promise.race([until(due), untilErased(database)])
    await scene.app.close()
    scene.app = await scene.openNode()
    await untilErased(database)
  }
})

test('a trace created again right after its deletion stays', async ({ app, database, token }) => {
  for (let round = 0; round < 10; round++) {
    const old = `${SECRET} ${round}`
    await tell(app, token, 't', old)
    await app.call('DELETE', '/v1/traces/t', { token })
    await app.call('PUT', '/v1/traces/t', { token, body: { title: 'anew' } })
    await app.call('PUT', '/v1/traces/t/messages/m', { token, body: { role: 'user', textContent: 'anew' } })
    await untilErased(database, old)
    const { data } = await app.call('GET', '/v1/traces/t/messages', { token })
    assert.equal(
      (data as { messages: { textContent: string }[] }).messages.map(({ textContent }) => textContent),
      ['anew'],
    )
  }
})

test('rows that cannot be erased yet delay no other trace, and do not show in a new trace of the same name', async (scene) => {
  const { app, database, token } = scene
  const { call } = app
  await tell(app, token, 't')
  await tell(app, token, 'other', 'another secret')
  const holder = new pg.Client({ connectionString: database.url })
  await holder.connect()
  try {
    await holder.query('begin')
    await holder.query(`select from ${schema}.messages where trace_id = $1 for update`, [await idOf(app, token, 't')])
    assert.is((await call('DELETE', '/v1/traces/t', { token })).status, 200)
    assert.is((await call('PUT', '/v1/traces/third', { token, body: {} })).status, 200)
    await tell(app, token, 't', 'told anew')
    const messages = await messagesOf(app, token, 't')
    assert.is(messages.length, 40)
    assert.ok(messages.every(({ textContent }) => textContent === 'told anew'))
    const { data } = await call('PUT', '/v1/traces/t/messages/told%20anew%200', { token, body: { role: 'user' } })
    assert.match(JSON.stringify(data), 'told anew')
    await call('DELETE', '/v1/traces/other', { token })
    await until(async () => (await placesOf(database, 'another secret')).length === 0)
    assert.ok((await placesOf(database, SECRET)).length > 0)
    await app.close() // in the middle of the sweep
    scene.app = await scene.openNode()
  } finally {
    await holder.end()
  }
  await untilErased(database)
  assert.is((await messagesOf(scene.app, token, 't')).length, 40)
})

test('a rebuild after an erasure ends in the same read models', async ({ app, database, token }) => {
  await tell(app, token, 'gone')
  await tell(app, token, 'stays', 'no secret')
  await tell(app, token, 'back')
  for (const trace of ['gone', 'back']) await app.call('DELETE', `/v1/traces/${trace}`, { token })
  await tell(app, token, 'back', 'again')
  await untilErased(database)
  const live = await dumpSchema(database.url, schema)
  const { log, codec } = app.service
  await rebuild({ url: database.url, group: mainGroup, log, codec })
  assert.equal(await dumpSchema(database.url, schema), live)
})

test.run()
