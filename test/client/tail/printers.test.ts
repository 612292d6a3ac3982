import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { MessageValue } from '../../../src/contract/realtime-client/messages.ts'
import {
  type FeedTraceValue,
  type Output,
  type Printer,
  jsonPrinter,
  textPrinter,
} from '../../../src/client/tail/printers.ts'

const test = suite('tail: what is printed')

const printed = async (make: (output: Output) => Printer, work: (printer: Printer) => void) => {
  const [out, err] = [new PassThrough(), new PassThrough()]
  work(make({ out, err } as unknown as Output))
  out.end()
  err.end()
  const plain = (await text(out))
    .replace(/\u001b\[\d+m/g, '')
    .replace(/^(?:\w{3} \d+, \d{4}, \d\d:\d\d +|\d\d:\d\d:\d\d )/gm, '')
  return { lines: plain.split('\n').slice(0, -1), err: await text(err) }
}

const message = (textContent: string): MessageValue => ({
  id: 'id',
  externalId: 'm',
  role: 'user',
  textContent,
  createdAt: 0,
  updatedAt: 0,
})

test('a message that goes on is continued, one that changes is shown again, one that does not is not', async () => {
  const { lines } = await printed(textPrinter, ({ messages }) => {
    for (const text of ['one', 'one\ntwo', 'one\ntwo', 'three']) messages([message(text)])
  })
  assert.equal(lines, ['user', '  one', '  two', 'user changed', '  three'])
})

test('nothing that is printed controls the terminal', async () => {
  const { lines, err } = await printed(textPrinter, ({ messages, gone }) => {
    messages([message('\u001b[2J\u202Eevil')])
    gone('gone \u0007')
  })
  assert.equal(lines, ['user', '  \\u001b[2J\\u202eevil'])
  assert.is(err, 'gone \\u0007\n')
})

const trace = (id: string, messageCount: number, title = id): FeedTraceValue => ({
  id,
  externalId: id,
  title,
  agentId: 'agent',
  visibility: 'private',
  createdAt: 0,
  updatedAt: messageCount,
  messageCount,
  namespace: { id: 'n', slug: 'n', displayName: 'n' },
})

test('of a feed the newest traces are shown, then each that is new or has changed, the oldest first', async () => {
  const { lines } = await printed(textPrinter, ({ traces }) => {
    traces([trace('c', 1), trace('b', 2), trace('a', 3)], 2)
    traces([trace('d', 0), trace('c', 1), trace('b', 7), trace('a', 3)], 2)
    traces([trace('d', 0), trace('c', 1), trace('b', 7), trace('a', 3)], 2)
  })
  assert.equal(lines, [
    'b  2 messages  private  b',
    'c  1 message  private  c',
    'b  7 messages (+5)  private  b',
    'd  0 messages  private  d',
  ])
})

test('for scripts each line is a document', async () => {
  const { lines } = await printed(jsonPrinter, ({ messages, traces, gone }) => {
    messages([message('a\nb')])
    traces([trace('a', 1)], 10)
    gone('it is gone')
  })
  const documents = lines.map((line) => JSON.parse(line) as { type: string })
  assert.equal(
    documents.map(({ type }) => type),
    ['message', 'trace', 'gone'],
  )
  assert.equal(documents[0], { type: 'message', message: message('a\nb') })
})

test.run()
