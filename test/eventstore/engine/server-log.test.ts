import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newId, traceId } from '../../../src/base/ids.ts'
import { onServer } from '../../support/database.ts'
import { openApp } from '../../support/open-app.ts'
import { startPlainServer } from '../../support/plain-server.ts'
import { until } from '../../support/until.ts'
import { signIn } from '../../support/world.ts'

const test = suite('what a PostgreSQL server logs about events that cannot be applied')

const server = await startPlainServer()
test.after(server.stop)

const MARKER = 'Never-to-be-quoted'
const quotes = (line: string) => line.includes(MARKER)

const message = { role: 'user', class: 'user_message', tools: [], digest: 'd', textContent: MARKER }
const text = [{ type: 'text', content: { text: MARKER } }]
const titled = { op: 'add', path: '/title', value: MARKER }

/** Events that some read model cannot apply: of a trace that there is, or of one that was never made. */
const unfit = [
  ['present', 'TraceUpdated', { patch: [titled, { op: 'remove', path: '/visibility' }] }],
  ['present', 'TraceUpdated', { patch: [titled, { op: 'remove', path: '/agentId' }] }],
  ['present', 'TraceUpdated', { patch: [titled, { op: 'add', path: `/${MARKER}`, value: MARKER }] }],
  ['present', 'MessageAdded', { ...message, externalId: MARKER, ordinal: 2 ** 40, parts: text }],
  ['present', 'MessageAdded', { ...message, externalId: `${MARKER}\0`, ordinal: 1, parts: text }],
  ['absent', 'TraceUpdated', { patch: [titled] }],
  ['absent', 'MessageAdded', { ...message, externalId: MARKER, ordinal: 0, parts: text }],
] as const

/** Serves from such a database until the events are in quarantine; gives what the service and the server have logged. */
const logged = async (url: string) => {
  const lines: string[] = []
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
  const node = await openApp(url, { env: { SUMMARY_PROVIDER: 'none' }, logger })
  const { log } = node.service
  const { namespaceId, send } = await signIn(node)
  const streams: string[] = []
  for (const [i, [which, type, data]] of unfit.entries()) {
    const name = `t${i}`
    if (which === 'present') await send('PUT', `/v1/traces/${name}`, { title: MARKER })
    const stream = `trace-${traceId(namespaceId, name)}`
    const metadata = { at: 1, schema: 1, append: { id: newId(), index: 0, size: 1 } }
    const event = { id: newId(), type, data: JSON.stringify(data), metadata: JSON.stringify(metadata) }
    await log.append(stream, (await log.last(stream))?.revision ?? 'none', [event])
    streams.push(stream)
  }
  const isLeftOut = (stream: string) => lines.some((line) => line.includes(stream) && line.includes('quarantine'))
  await until(() => streams.every(isLeftOut))
  await node.close()
  return lines
}

/** What nothing keeps out but the server's setting: a row that a table refuses. */
const insertNull = async (url: string) => {
  await onServer(url, 'create table refusing (text text, number int not null)')
  const code = await onServer(url, 'insert into refusing values ($1, null)', [MARKER]).then(
    () => 'inserted',
    (error: { code: string }) => error.code,
  )
  assert.is(code, '23502')
}

const verbosityIn = async (url: string) =>
  (await onServer(url, 'show log_error_verbosity')).rows[0]!.log_error_verbosity
const advises = (line: string) => line.includes('in database guest set log_error_verbosity = terse')

test('is nothing of their content, where its role may make all errors terse', async () => {
  const url = await server.newDatabase('owner', 'superuser')
  assert.equal(
    (await logged(url)).filter((line) => quotes(line) || advises(line)),
    [],
  )
  await insertNull(url)
  assert.match(server.log(), 'violates not-null constraint')
  assert.equal(server.log().split('\n').filter(quotes), [])
  assert.is(await verbosityIn(url), 'terse')
})

test('is nothing of their content where its role may not, and the service says how to allow it', async () => {
  const url = await server.newDatabase('guest')
  const lines = await logged(url)
  assert.equal(lines.filter(quotes), [])
  assert.equal(server.log().split('\n').filter(quotes), [])
  assert.is(lines.filter(advises).length, 1)
  assert.is(await verbosityIn(url), 'default')
})

test.run()
