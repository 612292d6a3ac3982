import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { type CommandContext, documents, newCommandContext, run } from './support/commands.ts'
import { start } from './support/command-process.ts'
import { refusal } from './support/service-world.ts'
import { userLine, writeSession } from './support/session-file.ts'

const test = suite<CommandContext & { file: string }>('a sync that is interrupted')
const MESSAGES = 5_000

test.before.each(async (context) => {
  Object.assign(context, await newCommandContext())
  await run(context, 'login')
  context.file = writeSession(context.home, 's-1.jsonl', [])
  const lines = Array.from({ length: MESSAGES }, (_, i) => `${userLine(`u-${i}`, `message ${i}`)}\n`)
  appendFileSync(context.file, lines.join(''))
})
test.after.each(({ close }) => close())

/** Starts a sync, and sends it a signal as soon as its third batch is there. */
const interrupted = async (context: CommandContext & { file: string }, signal: NodeJS.Signals, ...more: string[]) => {
  const child = start(context, 'sync', context.file, ...more)
  let batches = 0
  context.server.fault = ({ path }) => {
    if (path.endsWith('/batch') && ++batches === 3) child.kill(signal)
    return undefined
  }
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  context.server.fault = () => undefined
  return { code: child.exitCode, out, err }
}

test('after Ctrl-C a sync reports what it uploaded, and the same command continues from there', async (context) => {
  const { code, out, err } = await interrupted(context, 'SIGINT')
  assert.is(code, 130)
  assert.match(err, 'stopped early: interrupted by Ctrl-C. Run the same command again to continue.\n')
  const stored = context.server.traces[0]!.messages.size
  assert.match(out, `stored ${stored.toLocaleString('en')} messages (${stored.toLocaleString('en')} new)`)
  assert.ok(stored < MESSAGES)
  const again = await run(context, 'sync', context.file)
  assert.match(again.out, `${(MESSAGES - stored).toLocaleString('en')} new)`)
  assert.is(context.server.traces[0]!.messages.size, MESSAGES)
})

test('after SIGTERM a sync reports what it uploaded, and exits with 143', async (context) => {
  const { code, out } = await interrupted(context, 'SIGTERM', '--json')
  assert.is(code, 143)
  const { type, stopped, exitCode } = documents(out).at(-1)!
  assert.equal([type, exitCode], ['summary', 143])
  assert.match(String(stopped), 'ended by SIGTERM')
})

test('after Ctrl-C a sync does not wait for an unavailable service', async (context) => {
  context.server.fault = ({ path }) => (path.endsWith('/batch') ? refusal(503, { 'retry-after': '100' }) : undefined)
  const child = start(context, 'sync', context.file)
  const told = text(child.stderr)
  await until(() => context.server.requests.some(({ path }) => path.endsWith('/batch')))
  child.kill('SIGINT')
  await once(child, 'close')
  assert.is(child.exitCode, 130)
  assert.match(await told, 'interrupted by Ctrl-C')
})

test('a second Ctrl-C ends a sync at once, and it still reports what it uploaded', async (context) => {
  const { server } = context
  const child = start(context, 'sync', context.file)
  const [out, err] = [text(child.stdout), text(child.stderr)]
  // The service does not answer any more.
  server.fault = ({ path }) => (path.endsWith('/batch') ? 'no answer' : undefined)
  await until(() => server.requests.some(({ path }) => path.endsWith('/batch')))
  child.kill('SIGINT')
  await once(child.stderr, 'data')
  child.kill('SIGINT')
  await once(child, 'close')
  assert.is(child.exitCode, 130)
  assert.match(await err, 'press Ctrl-C again to stop at once')
  assert.match(await out, 'nothing was sent')
})

test('what a killed sync has not erased of the past, the next one erases', async (context) => {
  const key = 'q7Zr4TnW2kXvB9mLpC3sJd8F'
  const file = writeSession(context.home, 's-2.jsonl', [userLine('u-1', `it is ${key}`, { sessionId: 's-2' })])
  await run(context, 'sync', file)
  appendFileSync(file, `${userLine('u-2', `API_KEY=${key}`, { sessionId: 's-2' })}\n`)
  const isErasure = (request: string) => request.endsWith('/s-2/history/erase')
  const child = start(context, 'sync', file)
  context.server.fault = ({ path }) => {
    if (!isErasure(path)) return undefined
    child.kill('SIGKILL')
    return 'no answer'
  }
  await once(child, 'close')
  context.server.fault = () => undefined
  const { messages } = context.server.traces.find(({ externalId }) => externalId === 's-2')!
  assert.not.match(JSON.stringify([...messages.values()]), key)
  context.server.requests.length = 0
  const { code, err } = await run(context, 'sync', file)
  assert.is(code, 0)
  assert.match(err, 'the past of the trace, which had it, was erased')
  assert.is(context.server.writes().filter(isErasure).length, 1)
})

test.run()
