import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newApiClient } from '../../../src/client/api/client.ts'
import { documents } from '../support/commands.ts'
import { ok } from '../support/service-world.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { userLine, writeSession } from '../support/session-file.ts'
import { tempFolder } from '../support/temp.ts'
import { newTestTiming } from '../support/timing.ts'

type Context = { server: TestServer; home: string; remove: () => void }
const test = suite<Context>('a hostile server')
const entry = join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts')
const evil = 'e\u001b]0;x\u0007\u009b2J\u007f\u202evil\r\nLogged in'
const shown = 'e\\u001b]0;x\\u0007\\u009b2J\\u007f\\u202evil\\u000d\\u000aLogged in'

test.before.each(async (context) => {
  const { path, remove } = tempFolder()
  Object.assign(context, { server: await startServer(), home: path, remove })
})
test.after.each(async ({ server, remove }) => {
  await server.close()
  remove()
})

/** Runs the command line to its end; whatever it prints holds nothing that a terminal obeys but the ends of its lines. */
const run = async ({ server, home }: Context, ...args: readonly string[]) => {
  const { NODE_COMPILE_CACHE = '' } = process.env
  const env = { TRACEBOOK_URL: server.url, TRACEBOOK_CONFIG_DIR: join(home, 'config'), HOME: home, NODE_COMPILE_CACHE }
  const child = spawn(process.execPath, [entry, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err] = await Promise.all([readAll(child.stdout), readAll(child.stderr), once(child, 'close')])
  assert.not.match(`${out}${err}`.replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u)
  return { code: child.exitCode, out, err }
}
const said = (message: string) => ({
  status: 400,
  body: { ok: false, error: { code: evil, message, details: { formErrors: [evil], fieldErrors: {} } } },
})

test('the server’s error messages are printed on one line, with control characters escaped', async (context) => {
  context.server.fault = () => said(evil)
  assert.equal(await run(context, 'login'), { code: 1, out: '', err: `tracebook: ${shown}\n` })
  context.server.fault = () => ({ status: 302, headers: { location: 'https://x/\u009b2J' }, body: {} })
  assert.match((await run(context, 'login')).err, 'it moved to https://x/\\u009b2J')
  context.server.fault = () => said('x'.repeat(1 << 20))
  assert.ok((await run(context, 'login')).err.length < 5_000)
})

test('names given by the server are printed with control characters escaped', async (context) => {
  const session = { token: 't', userId: evil, namespaceId: 'n', namespaceSlug: evil }
  context.server.fault = () => ok({ session, user: { id: evil, displayName: evil } })
  const { out } = await run(context, 'login')
  assert.match(out, `as ${shown} (user ${shown}), namespace ${shown}.\n`)
})

test('a suggested command has the namespace that the user typed, not the one that the server answered', async (context) => {
  await run(context, 'login')
  const answered = { id: 'n', slug: 'x; rm -rf ~', displayName: 'X', role: 'member' }
  const session = { token: 't', userId: 'another', namespaceId: 'n', namespaceSlug: 'x' }
  context.server.fault = ({ method, path }) => {
    if (path.startsWith('/v1/namespaces/')) return ok({ namespace: answered })
    return method === 'POST' ? ok({ session }) : undefined
  }
  const { code, err } = await run(context, 'sync', '--namespace', 'team')
  assert.is(code, 2)
  assert.match(err, 'login --codehost --namespace team --server')
})

test('the report of a sync has control characters escaped in messages, titles and file names, as lines and as JSON', async (context) => {
  await run(context, 'login')
  const file = writeSession(context.home, 'a\u001b[2J\u202e\n.jsonl', ['{"cut":x}', userLine('u-1', 'red\u001b[31m')])
  context.server.fault = ({ method }) => (method === 'GET' ? undefined : said(evil))
  const { err } = await run(context, 'sync', file)
  assert.match(err, 'a\\u001b[2J\\u202e\\u000a.jsonl:1: not one JSON object')
  assert.match(err, `"red\\u001b[31m": ${shown}`)
  const { out } = await run(context, 'sync', '--json', file)
  const problem = documents(out).find(({ kind }) => kind === 'session_failed')
  assert.equal([problem!['file'], problem!['message']], [file, shown])
  assert.match((await run(context, 'sync', '--force', context.home)).err, 'a\\u001b[2J\\u202e\\u000a.jsonl')
  assert.match((await run(context, 'sync', join(context.home, 'none\u001b[2J'))).err, 'none\\u001b[2J: no such file')
})

const failureFrom = async (answer: (response: ServerResponse) => void): Promise<Error> => {
  const http = createServer((_request, response) => answer(response))
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening))
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const error = await newApiClient(url, 't', newTestTiming().timing)
    .session()
    .then(
      () => assert.unreachable() as never,
      (reason: unknown) => reason as Error,
    )
  await new Promise((closed) => void (http.close(closed), http.closeAllConnections()))
  return error
}

test('reading an endless answer stops at the limit, compressed or not, with any status', async () => {
  const chunk = Buffer.alloc(1 << 16, 'x')
  const endless = (response: ServerResponse) => {
    const more = () => {
      while (response.write(chunk));
    }
    response.on('drain', more)
    more()
  }
  for (const status of [200, 400, 503]) {
    const error = await failureFrom((response) => endless(response.writeHead(status)))
    assert.match(error.message, /^http:\/\/127\.0\.0\.1:\d+: its answer is larger than 4 MiB/)
  }
  const bomb = gzipSync(Buffer.alloc(64 << 20, '['))
  const error = await failureFrom((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb))
  assert.match(error.message, 'larger than 4 MiB')
})

test('a very deeply nested answer and an invalid status are reported as failed requests', async () => {
  const nested = '[1,'.repeat(1 << 20)
  assert.match(
    (await failureFrom((response) => response.writeHead(200).end(nested))).message,
    'not the address of a Tracebook server',
  )
  assert.match((await failureFrom((response) => response.writeHead(700).end('{}'))).message, 'status 700')
})

test.run()
