import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { rawItems, rawMembers } from '../../../src/base/json/raw-values.ts'
import type { NewSession } from '../../../src/contract/sessions.ts'
import { newApiClient } from '../../../src/client/api/client.ts'
import type { Connection } from '../../../src/client/login/connect.ts'
import type { SyncEvent } from '../../../src/client/report/events.ts'
import { openDuties } from '../../../src/client/state/duties.ts'
import { download } from '../../../src/client/transfer/download.ts'
import { openExportFile } from '../../../src/client/transfer/export-file.ts'
import { importTrace } from '../../../src/client/transfer/import-trace.ts'
import { writeWhole } from '../../../src/client/transfer/output-file.ts'
import type { Visibility } from '../../../src/client/upload/upsert-trace.ts'
import { hostileText } from '../../transcript/support/hostile.ts'
import { session } from '../../transcript/support/session.ts'
import type { App } from '../../support/open-app.ts'
import { listen } from '../../support/slow-reader.ts'
import { openWorld } from '../../support/world.ts'
import { tempFolder } from '../support/temp.ts'
import { runs } from '../../support/runs.ts'

const test = suite('export and import: the round trip')

const folder = tempFolder()
const [{ node: first }, { node: second }] = [await openWorld(test), await openWorld(test)]
const ports = new Map<App, number>()
for (const app of [first, second]) ports.set(app, await listen(app))
test.after(folder.remove)

const serverOf = (app: App) => `http://127.0.0.1:${ports.get(app)}`

const connected = async (app: App): Promise<Connection> => {
  const { data } = await app.call('POST', '/v1/session', { body: { deviceId: randomUUID() } })
  const { token, namespaceId: id, namespaceSlug } = (data as { session: NewSession }).session
  const api = newApiClient(serverOf(app), token)
  return { api, token, namespaceId: id!, namespaceSlug: namespaceSlug!, activeId: id! }
}
const [here, there] = [await connected(first), await connected(second)]

const send = async (app: App, method: 'POST' | 'PUT', url: string, token: string, raw: string) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const { statusCode, body } = await app.app.inject({ method, url, headers, payload: raw })
  assert.is(statusCode, 200, body)
}

const newTrace = async (trace: object, messages: readonly string[]) => {
  const id = randomUUID()
  await send(first, 'PUT', `/v1/traces/${id}`, here.token, JSON.stringify(trace))
  if (messages.length > 0)
    await send(first, 'POST', `/v1/traces/${id}/messages/batch`, here.token, `{"messages":[${messages.join(',')}]}`)
  return id
}

const exported = async (app: App, { token }: Connection, id: string): Promise<string> => {
  const path = join(folder.path, `${randomUUID()}.json`)
  const pieces = download({ server: serverOf(app), path: `/v1/traces/${id}/export?format=json`, token })
  await writeWhole(path, pieces)
  return path
}

const imported = async (path: string, visibility?: Visibility) => {
  const events: SyncEvent[] = []
  const report = (event: SyncEvent) => void events.push(event)
  const duties = openDuties(folder.path, serverOf(second))
  const wanted = { connection: there, file: path, visibility, report, duties }
  const done = await importTrace(await openExportFile(path), wanted)
  return { done, notices: events.flatMap((event) => (event.type === 'notice' ? [event.message] : [])) }
}

/** What the services give themselves: ids, times of arrival, the owner, the names of models, summaries. */
const OWN_OF_TRACE = new Set([
  'id',
  'createdAt',
  'updatedAt',
  'namespace',
  'createdBy',
  'modelName',
  'ai_title',
  'ai_summary',
  'summaryMessageCount',
])
const OWN_OF_MESSAGE = new Set(['id', 'createdAt', 'updatedAt'])

const without = (json: string, names: ReadonlySet<string>) =>
  [...rawMembers(json)].filter(({ key }) => !names.has(key)).map(({ key, value }) => `${key}:${value}`)

/** What is left of an export without that, as text. */
const essence = (path: string) => {
  const members = new Map([...rawMembers(readFileSync(path, 'utf8'))].map(({ key, value }) => [key, value]))
  const messages = [...rawItems(members.get('messages')!)].map((message) => without(message, OWN_OF_MESSAGE))
  return { trace: without(members.get('trace')!, OWN_OF_TRACE), messages }
}

test('the export of an imported trace equals the first export byte for byte, for any content', () =>
  fc.assert(
    fc.asyncProperty(hostileText, fc.boolean(), async (text, hasOrder) => {
      const messages = session((place) => `${place} ${text}`).map((message, i) =>
        JSON.stringify({ ...message, ...(hasOrder ? { order: (i * 7) % 3, timestamp: i / 3 } : {}) }),
      )
      const id = await newTrace({ title: text, agentId: text.slice(0, 100), visibility: 'direct' }, messages)
      const before = await exported(first, here, id)
      const { done, notices } = await imported(before)
      assert.equal([done.messages, done.new, done.leftOut, done.others, notices], [6, 6, 0, 0, []])
      const after = await exported(second, there, id)
      assert.equal(essence(after), essence(before))
    }),
    { numRuns: runs(5) },
  ))

const EXACT = '{"zeta":1,"alpha":12345678901234567890,"__proto__":{"x":-0},"1":[1e300,"\\u0000\\ud800"],"0":{}}'
const exact = (i: number) =>
  `{"externalId":"m${i}","role":"assistant","textContent":"x\\u0000\\ud83d","parts":[{"type":"tool_call","content":{"callId":"c","toolName":"t","args":${EXACT}}},{"type":"text"}]}`

test('numbers, keys, their order and lone surrogates survive export and import', async () => {
  const id = await newTrace({}, [exact(0), exact(1)])
  const before = await exported(first, here, id)
  await imported(before)
  assert.equal(essence(await exported(second, there, id)), essence(before))
  assert.ok(readFileSync(before, 'utf8').includes('"alpha":12345678901234567890,"__proto__":{"x":-0}'))
})

const USED = '{"inputTokens":9007199254740991,"outputTokens":0,"costUsd":0.000000012,"responseId":"msg_1"}'

test('what an answer has used survives export and import, and its change alone is imported', async () => {
  const used = (usage: string) => `{"externalId":"m0","role":"assistant","textContent":"hi","usage":${usage}}`
  const id = await newTrace({ title: 'Used' }, [used(USED), exact(1)])
  const before = await exported(first, here, id)
  assert.ok(readFileSync(before, 'utf8').includes('"responseId":"msg_1"'))
  await imported(before)
  assert.equal(essence(await exported(second, there, id)), essence(before))
  assert.equal((await imported(before)).done.updated, 0)
  const more = `{"messages":[${used('{"outputTokens":7}')}]}`
  await send(first, 'POST', `/v1/traces/${id}/messages/batch`, here.token, more)
  const after = await exported(first, here, id)
  assert.equal((await imported(after)).done.updated, 1)
  assert.equal(essence(await exported(second, there, id)), essence(after))
})

test('a repeated import changes nothing, and does not replace other content', async () => {
  const id = await newTrace({ title: 'T' }, [exact(0), exact(1)])
  const path = await exported(first, here, id)
  await imported(path)
  const again = await imported(path)
  assert.equal([again.done.messages, again.done.new, again.done.updated], [2, 0, 0])
  await send(second, 'POST', `/v1/traces/${id}/messages/batch`, there.token, `{"messages":[${exact(2)}]}`)
  assert.is((await imported(path)).done.others, 1)
})

test('a trace without messages is imported too', async () => {
  const id = await newTrace({ title: 'Empty', parentExternalId: 'parent', parentCallId: 'call-1' }, [])
  const before = await exported(first, here, id)
  await imported(before)
  assert.equal(essence(await exported(second, there, id)), essence(before))
  assert.is((await there.api.trace(id)).parentExternalId, 'parent')
})

const visibilityOf = async (id: string) => (await there.api.trace(id)).visibility

test('an import publishes a trace only if that was asked for', async () => {
  const id = await newTrace({ visibility: 'public' }, [exact(0)])
  const path = await exported(first, here, id)
  const { done, notices } = await imported(path)
  assert.equal([done.visibility, await visibilityOf(id)], ['private', 'private'])
  assert.match(notices.join(), /it was public: stored as private/)
  await imported(path, 'public')
  assert.is(await visibilityOf(id), 'public')
  const error = await imported(path).catch((error: Error) => error)
  assert.match((error as Error).message, /exists and is public/)
  await imported(path, 'private')
  assert.is(await visibilityOf(id), 'private')
})

const refusalOf = async (text: string | Buffer): Promise<string> => {
  const path = join(folder.path, `${randomUUID()}.json`)
  writeFileSync(path, text)
  return openExportFile(path).then(
    () => 'taken',
    (error: Error) => `${error.name}: ${error.message}`,
  )
}

test('a file that is truncated anywhere is refused before any write', async () => {
  const id = await newTrace({ title: 'T' }, [exact(0), exact(1)])
  const text = readFileSync(await exported(first, here, id), 'utf8')
  assert.is(await refusalOf(text), 'taken')
  for (let length = 0; length < text.length; length += 1 + Math.floor(text.length / 200))
    assert.match(await refusalOf(text.slice(0, length)), /^Damaged: /, `${length}`)
  assert.match(await refusalOf(`${text}x`), /there is text after its end/)
  assert.match(await refusalOf(text.replace(/,\{"id"/, '')), /^Damaged: /)
  assert.match(
    await refusalOf(text.replace('"messageCount":2', '"messageCount":3')),
    /has 3 messages, but the file has 2/,
  )
  assert.match(await refusalOf(text.replace('"m1"', '"m0"')), /the message m0 twice/)
  assert.match(
    await refusalOf(text.replace('"assistant"', '"robot"')),
    /message 1 does not have the form of an export: role/,
  )
  assert.match(await refusalOf(Buffer.concat([Buffer.from(text.slice(0, 20)), Buffer.from([0xff])])), /not UTF-8/)
})

test('a file that is not an export is refused', async () => {
  for (const text of [
    '',
    '{}',
    '[]',
    'null',
    '# Markdown',
    '{"ok":true,"data":{}}',
    '{"trace":{}}',
    '{"messages":[]}',
    '{"trace":1,"messages":[]}',
    `{"a":${'['.repeat(1_000)}`,
  ])
    assert.match(await refusalOf(text), /^Damaged: /, text.slice(0, 50))
})

test('whitespace and unknown members of an export are ignored', async () => {
  const id = await newTrace({ title: 'T' }, [exact(0)])
  const text = readFileSync(await exported(first, here, id), 'utf8')
  assert.is(
    await refusalOf(`\ufeff ${text.replace('{"trace":', '{ "new" : [1,{"a":"]}"}] ,\n"trace" :\t')}\n`),
    'taken',
  )
})

test.run()
