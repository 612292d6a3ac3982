import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newSessionParser } from '../../../src/server/summary/session-parser.ts'
import type { StoredTurn } from '../../../src/server/summary/turns.ts'
import { newOpenAiProvider } from '../../../src/server/summary/openai.ts'

const test = suite('openai provider')
const KEY = 'sk-very-secret'

type Asked = {
  path: string | undefined
  authorization: string | undefined
  body: { model: string; messages: { role: string; content: string }[] }
}
type Answer = (response: ServerResponse, request: IncomingMessage) => void

let answers: Answer[] = []
let asked: Asked[] = []
const server = createServer((request, response) => {
  let text = ''
  request.on('data', (chunk) => (text += chunk))
  request.on('end', () => {
    asked.push({ path: request.url, authorization: request.headers.authorization, body: JSON.parse(text) })
    const answer = answers.length > 1 ? answers.shift()! : answers[0]!
    answer(response, request)
  })
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
test.before.each(() => void (asked = []))
test.after(async () => {
  await thread.close()
  server.closeAllConnections()
  server.close()
})

const completion =
  (content: unknown): Answer =>
  (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        id: '1',
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content } }],
      }),
    )
const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response
      .writeHead(code, { 'content-type': 'application/json', ...headers })
      .end(`{"error":{"message":"no, ${KEY}"}}`)
const good = completion('{"title": "Repair the parser.", "summary": "It was repaired."}')

const turn = { role: 'user', class: 'user_message', text: '"Repair the parser"', parts: null, tools: '[]' } as const
const turns: StoredTurn[] = [{ place: 1, ...turn }]
const thread = newSessionParser(console.error)
const conversation = { messageCount: 1, turns }
const never = new AbortController().signal
const provider = (settings: { timeout?: number; key?: string | undefined; url?: string } = {}) =>
  newOpenAiProvider(
    {
      SUMMARY_BASE_URL: settings.url ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
      SUMMARY_MODEL: 'small',
      SUMMARY_API_KEY: 'key' in settings ? settings.key : KEY,
      SUMMARY_TIMEOUT_MS: settings.timeout ?? 10_000,
      SUMMARY_PROMPT_CHARS: 2_000,
    },
    thread,
  )
const failure = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => new Error('no error'),
    (error: Error) => error,
  )
  for (const text of [error.message, String(error.stack), JSON.stringify(error)]) assert.not.match(text, KEY)
  assert.is(error.cause, undefined)
  return error.message
}

test('a provider sends a chat completion request, and reads title and summary', async () => {
  answers = [good]
  assert.equal(await provider()(conversation, never), { title: 'Repair the parser', summary: 'It was repaired.' })
  const [{ path, authorization, body }] = asked as [Asked]
  assert.equal([path, authorization, body.model], ['/v1/chat/completions', `Bearer ${KEY}`, 'small'])
  assert.match(body.messages.at(-1)!.content, 'user: Repair the parser')
})

test('a server that needs no key gets no key', async () => {
  answers = [good]
  process.env.OPENAI_API_KEY = KEY
  await provider({ key: undefined })(conversation, never)
  delete process.env.OPENAI_API_KEY
  assert.is(asked[0]!.authorization, 'Bearer none')
})

test('text that a model adds around its answer does no harm', async () => {
  for (const content of [
    '```json\n{"title": "T", "summary": "S"}\n```',
    'Sure! {"title": "T", "summary": "S"} Anything else?',
    '<think>{"title": "no"}</think>\n{"title": "\\"T\\"", "summary": " S ", "more": 1}',
  ]) {
    answers = [completion(content)]
    assert.equal(await provider()(conversation, never), { title: 'T', summary: 'S' })
  }
  answers = [completion(JSON.stringify({ title: 'word '.repeat(100), summary: 'x'.repeat(10_000) }))]
  const long = await provider()(conversation, never)
  assert.ok(long.title!.length <= 80 && long.summary.length <= 4_000)
  answers = [completion('{"summary": "S"}')]
  assert.equal(await provider()(conversation, never), { title: undefined, summary: 'S' })
})

test('an unusable answer is a failure', async () => {
  for (const content of ['', 'no', '{"title": "T"}', '{"title": 5, "summary": "S"}', '{"summary": ""}', '{', null]) {
    answers = [completion(content)]
    assert.match(await failure(provider()(conversation, never)), 'is not the JSON object')
  }
  for (const text of ['{}', '{"choices": []}', '[]', '{"choices": [{}]}', 'not json']) {
    answers = [(response) => response.writeHead(200, { 'content-type': 'application/json' }).end(text)]
    assert.match(await failure(provider()(conversation, never)), 'the endpoint')
  }
  answers = [(response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')]
  assert.match(await failure(provider()(conversation, never)), 'the endpoint')
})

test('status 429 and 500 are retried, after the time that the endpoint names', async () => {
  answers = [status(429, { 'retry-after-ms': '5' }), status(500, { 'retry-after-ms': '5' }), good]
  assert.is((await provider()(conversation, never)).summary, 'It was repaired.')
  assert.is(asked.length, 3)
  answers = [status(429, { 'retry-after-ms': '5' })]
  assert.is(await failure(provider()(conversation, never)), 'the endpoint answered with status 429')
  assert.is(asked.length, 6)
})

test('a refusal is not retried', async () => {
  answers = [status(401)]
  assert.is(await failure(provider()(conversation, never)), 'the endpoint answered with status 401')
  assert.is(asked.length, 1)
})

test('a silent endpoint is given up after a timeout, also during its answer', async () => {
  answers = [() => {}]
  assert.is(await failure(provider({ timeout: 100 })(conversation, never)), 'the endpoint did not answer in time')
  answers = [(response) => response.writeHead(200, { 'content-type': 'application/json' }).write('{"choices"')]
  assert.is(await failure(provider({ timeout: 100 })(conversation, never)), 'the endpoint did not answer in time')
})

test('an unreachable endpoint is reported', async () => {
  const url = 'http://127.0.0.1:1/v1'
  assert.match(await failure(provider({ url, timeout: 5_000 })(conversation, never)), 'cannot be reached')
})

test('a stop ends the request', async () => {
  const stop = new AbortController()
  answers = [() => stop.abort()]
  assert.is(await failure(provider()(conversation, stop.signal)), 'the worker stops')
})

test.run()
