import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openWorld, signIn } from '../../support/world.ts'

const test = suite('trace/fidelity')

const { node } = await openWorld(test)

const headers = { ...(await signIn(node)).headers, 'content-type': 'application/json' }

const bodyOf = (args: string) =>
  `{"role":"assistant","parts":[{"type":"tool_call","content":{"callId":"c","toolName":"t","args":${args}}}]}`

const ARGS = [
  '{"b":1,"0":2,"a":{"x":[{"z":1,"7":-0}],"1":9007199254740993}}',
  '{"0":2,"b":1,"a":{"x":[{"z":1,"7":-0}],"1":9007199254740993}}',
  '{"__proto__":{"2":1,"1":2},"":"\\u0000\\ud800"}',
]

test('args are returned exactly as sent, by the answer and by the list, after an insert and after an update', async () => {
  const url = `/v1/traces/${randomUUID()}`
  await node.app.inject({ method: 'PUT', url, headers, payload: '{}' })
  for (const args of ARGS) {
    const put = await node.app.inject({ method: 'PUT', url: `${url}/messages/m`, headers, payload: bodyOf(args) })
    assert.is(put.statusCode, 200, put.body)
    const list = await node.app.inject({ method: 'GET', url: `${url}/messages?includeParts=true`, headers })
    for (const { body } of [put, list]) assert.ok(body.includes(`"args":${args}}`), `${args} became ${body}`)
  }
})

test('unknown members may have any name, at any place', async () => {
  const url = `/v1/traces/${randomUUID()}`
  const trace = await node.app.inject({ method: 'PUT', url, headers, payload: '{"title":"t","0":{"b":1,"2":2}}' })
  assert.is(trace.statusCode, 200, trace.body)
  const part = '{"order":0,"1":1,"type":"text","content":{"text":"x","0":[]},"7":{}}'
  const payload = `{"role":"user","3":3,"parts":[${part}],"2":2}`
  const put = await node.app.inject({ method: 'PUT', url: `${url}/messages/m`, headers, payload })
  assert.is(put.statusCode, 200, put.body)
  assert.is(put.json().data.message['3'], undefined)
  assert.ok(put.body.includes('"type":"text","content":{"text":"x"'), put.body)
})

test('args that are nested too deep are refused, with any keys', async () => {
  const url = `/v1/traces/${randomUUID()}`
  await node.app.inject({ method: 'PUT', url, headers, payload: '{}' })
  const statusOf = async (depth: number) => {
    const payload = bodyOf(`${'{"b":1,"0":'.repeat(depth)}{}${'}'.repeat(depth)}`)
    return (await node.app.inject({ method: 'PUT', url: `${url}/messages/m`, headers, payload })).statusCode
  }
  for (const [depth, status] of [
    [499, 200],
    [500, 400],
    [5_000, 400],
    [50_000, 400],
  ] as const)
    assert.is(await statusOf(depth), status, `${depth} levels`)
})

test('a different order of keys is a change, equal args are none', async () => {
  const url = `/v1/traces/${randomUUID()}`
  await node.app.inject({ method: 'PUT', url, headers, payload: '{}' })
  const send = async (args: string) => {
    const payload = `{"messages":[{"externalId":"m",${bodyOf(args).slice(1)}]}`
    const answer = await node.app.inject({ method: 'POST', url: `${url}/messages/batch`, headers, payload })
    return answer.json().data.messages[0].result as string
  }
  assert.is(await send(ARGS[0]!), 'created')
  assert.is(await send(ARGS[1]!), 'updated')
  node.service.traces.clear()
  assert.is(await send(ARGS[1]!), 'unchanged', 'also when the message is loaded anew')
})

test.run()
