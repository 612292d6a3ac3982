import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openWorld, signIn } from '../../support/world.ts'
import { readDocument } from './support/document.ts'

const test = suite('short text')
const { node } = await openWorld(test)
const { app, call } = node
const nameDevice = (deviceName: string) => call('POST', '/v1/session', { body: { deviceId: 'device', deviceName } })
const { identityId, ask, newTeam, newTrace } = await signIn(node, 'device')
await newTeam('team')
await newTrace({}, [], 't')

type Send = (text: string) => ReturnType<typeof call>
const send =
  (method: Parameters<typeof call>[0], path: string, bodyOf: (text: string) => object): Send =>
  (text) =>
    ask(method, path, bodyOf(text))
const trace = (field: string) => send('PUT', '/v1/traces/t', (text) => ({ [field]: text }))
const part = (content: (text: string) => object) =>
  send('PUT', '/v1/traces/t/messages/m', (text) => ({ role: 'assistant', parts: [content(text)] }))

let slugs = 0
const fields: Record<string, readonly [most: number, Send]> = {
  'the name of a device': [256, nameDevice],
  'the name of a user': [256, send('PATCH', '/v1/user', (displayName) => ({ displayName }))],
  'the name of an identity': [256, send('PATCH', `/v1/user/identities/${identityId}`, (name) => ({ name }))],
  'the name of a new namespace': [
    256,
    send('POST', '/v1/namespaces', (displayName) => ({ slug: `s${slugs++}`, displayName })),
  ],
  'the name of a namespace': [256, send('PATCH', '/v1/namespaces/team', (displayName) => ({ displayName }))],
  'the description of a namespace': [4_096, send('PATCH', '/v1/namespaces/team', (description) => ({ description }))],
  'the title of a trace': [4_096, trace('title')],
  'the title of a new trace': [4_096, send('POST', '/v1/traces', (title) => ({ externalId: 'n', title }))],
  'the title in a PATCH': [4_096, send('PATCH', '/v1/traces/t', (title) => ({ title }))],
  agentId: [256, trace('agentId')],
  model: [256, trace('model')],
  gitBranch: [256, trace('gitBranch')],
  gitRef: [256, trace('gitRef')],
  projectName: [256, trace('projectName')],
  projectPath: [4_096, trace('projectPath')],
  gitRemoteUrl: [4_096, trace('gitRemoteUrl')],
  "a message's model": [256, send('PUT', '/v1/traces/t/messages/m', (model) => ({ role: 'user', model }))],
  'the name of a tool': [
    256,
    part((toolName) => ({ type: 'tool_call', content: { callId: 'c', toolName, args: {} } })),
  ],
  'the id of a call': [256, part((callId) => ({ type: 'tool_call', content: { callId, toolName: 't', args: {} } }))],
  "the id of a result's call": [
    256,
    part((callId) => ({ type: 'tool_result', content: { callId, toolName: 't', output: '', status: 'success' } })),
  ],
  "the name of a result's tool": [
    256,
    part((toolName) => ({ type: 'tool_result', content: { callId: 'c', toolName, output: '', status: 'success' } })),
  ],
}

for (const [name, [most, sendText]] of Object.entries(fields)) {
  test(`${name} has at most ${most} characters, however many bytes they take`, async () => {
    for (const character of ['x', 'ä', '𝄞']) {
      assert.is((await sendText(character.repeat(most))).status, 200)
      const { status, error } = await sendText(character.repeat(most + 1))
      assert.is(status, 400)
      assert.match(JSON.stringify(error), `${most} characters`)
    }
  })
}

test('the document has the limits', async () => {
  const { document } = await readDocument(app)
  const schemas = document.components.schemas as Record<string, { properties: Record<string, { maxLength?: number }> }>
  const capOf = (schema: string, field: string) => schemas[schema]!.properties[field]!.maxLength
  assert.is(capOf('TraceUpsert', 'title'), 4_096)
  assert.is(capOf('TraceUpsert', 'model'), 256)
  assert.is(capOf('UserUpdate', 'displayName'), 256)
  assert.is(capOf('NamespaceUpdate', 'description'), 4_096)
  assert.is(capOf('SessionCreate', 'deviceName'), 256)
  assert.is(capOf('SessionCreate', 'deviceId'), 1_024)
  assert.match(JSON.stringify(schemas['Part']), /"toolName":\{[^{}]*"maxLength":256[^{}]*\}/)
})

test.run()
