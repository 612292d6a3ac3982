import { type ChildProcessByStdio, fork } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { type CommandContext, newCommandContext, run } from './support/commands.ts'
import { start } from './support/command-process.ts'
import type { Fault } from './support/server.ts'
import { answerLine, text, userLine, writeSession } from './support/session-file.ts'

type Context = CommandContext & { readonly file: string }

const test = suite<Context>('two processes that upload one session')

test.before.each(async (context) => {
  Object.assign(context, await newCommandContext())
  await run(context, 'login')
  const folder = join(context.claude, 'projects', 'growing')
  mkdirSync(folder, { recursive: true })
  const lines = [userLine('u-1', 'hello'), answerLine('a-1', 'growing', [text('the beginning')])]
  Object.assign(context, { file: writeSession(folder, 's-1.jsonl', lines) })
})
test.after.each(({ close }) => close())

const grow = ({ file }: Context) => appendFileSync(file, `${answerLine('a-2', 'growing', [text('the end')])}\n`)

const batches = ({ server }: Context) => server.requests.filter(({ path }) => path.endsWith('/batch'))

/** The first batch is held until `release` is called, and meets that fault then. */
const holdFirstBatch = ({ server }: Context) => {
  const { promise, resolve: release } = Promise.withResolvers<Fault | undefined>()
  let isFirst = true
  server.fault = ({ path }) => {
    if (!isFirst || !path.endsWith('/batch')) return undefined
    isFirst = false
    return promise
  }
  return release
}

/** All that a process says, as it says it. */
const listen = (child: ChildProcessByStdio<null, Readable, Readable>) => {
  const said = { text: '' }
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (said.text += piece))
  return said
}

/** Holds the upload of the session as it is, lets it grow, and starts another upload; ends when that waits, or has sent. */
const overtake = async (context: Context) => {
  const release = holdFirstBatch(context)
  const first = start(context, 'sync', context.file)
  await until(() => batches(context).length === 1)
  grow(context)
  const second = start(context, 'sync', context.file, '--json')
  const said = listen(second)
  await until(() => said.text.includes('waiting for it') || batches(context).length === 2)
  return { first, second, release, said }
}

const stored = ({ server }: Context) => JSON.stringify([...server.traces[0]!.messages.values()])

test('the second process waits for the first one, so that the newest version stays', async (context) => {
  const { first, second, release } = await overtake(context)
  release(undefined)
  const ended = await Promise.all([once(first, 'close'), once(second, 'close')])
  assert.equal(
    ended.map(([code]) => code),
    [0, 0],
  )
  assert.match(stored(context), /the beginning.*the end/)
  const again = await run(context, 'sync', context.file)
  assert.is(again.out, 'nothing was sent: 1 session unchanged\n')
})

test('the second process continues at once when the first one is killed', async (context) => {
  const { first, second, said } = await overtake(context)
  first.kill('SIGKILL')
  const [code] = await once(second, 'close')
  assert.is(code, 0, said.text)
  assert.match(stored(context), /the beginning.*the end/)
})

test('a watch waits for another process that uploads, and reports no failure', async (context) => {
  const other = fork(join(import.meta.dirname, 'state', 'other-uploader.ts'), [
    join(context.home, 'config', 'data'),
    join(context.home, 'config'),
    context.server.url,
  ])
  await once(other, 'message')
  const watch = start(context, 'sync', '--watch', '--json', context.file)
  const said = listen(watch)
  await until(() => said.text.includes('"type":"start"'))
  grow(context)
  assert.equal(batches(context), [])
  other.kill('SIGKILL')
  await until(() => context.server.traces.length === 1 && /the beginning.*the end/.test(stored(context)))
  watch.kill('SIGTERM')
  await once(watch, 'close')
  assert.not.match(said.text, 'failed')
})

test('a sync beside a watch says that the watch uploads, and ends once it has', async (context) => {
  const release = holdFirstBatch(context)
  const watch = start(context, 'sync', '--watch', '--json', context.file)
  await until(() => batches(context).length === 1)
  const sync = start(context, 'sync', context.file)
  const said = listen(sync)
  await until(() => said.text.includes('waiting for it'))
  assert.match(said.text, `the watch uploads (process ${watch.pid}): waiting for it`)
  release(undefined)
  assert.is((await once(sync, 'close'))[0], 0, said.text)
  assert.match(said.text, 'nothing was sent: 1 session unchanged')
  assert.match(stored(context), 'the beginning')
  watch.kill('SIGTERM')
  await once(watch, 'close')
})

test.run()
