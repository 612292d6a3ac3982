import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { objectLines } from '../../../../src/client/agents/support/lines.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('lines of a session file')
const { path, remove } = tempFolder()
test.after(remove)

const read = async (content: string | Buffer, size = Buffer.byteLength(content)) => {
  const file = join(path, 'lines.jsonl')
  writeFileSync(file, content)
  const malformed: number[] = []
  const lines = await Array.fromAsync(
    objectLines(
      file,
      size,
      () => true,
      (line) => malformed.push(line),
    ),
  )
  return { lines, malformed, sent: lines.map(({ json }) => JSON.stringify(json)) }
}

test('lines are numbered from 1, blank ones too, and may end in CRLF', async () => {
  const { lines } = await read('{"a":1}\n\n  \r\n{"b":2}\r\n')
  assert.equal(
    lines.map(({ number, json }) => [number, json]),
    [
      [1, { a: 1 }],
      [4, { b: 2 }],
    ],
  )
})

test('a line that is not one JSON object is malformed, and no other line is lost', async () => {
  const { lines, malformed } = await read('[1]\n7\nnull\n{"c":\n{"d":4}\n')
  assert.equal(malformed, [1, 2, 3, 4])
  assert.equal(
    lines.map(({ json }) => json),
    [{ d: 4 }],
  )
})

test('a last line without a newline is read if it parses', async () => {
  const { lines, malformed } = await read('{"a":1}\n{"b":2}')
  assert.is(lines.length, 2)
  assert.equal(malformed, [])
})

test('a last line without a newline that does not parse counts as still being written', async () => {
  const { lines, malformed } = await read('{"a":1}\n{"b":')
  assert.is(lines.length, 1)
  assert.equal(malformed, [])
})

test('only the requested number of bytes at the start is read', async () => {
  assert.is((await read('{"a":1}\n{"b":2}\n', 8)).lines.length, 1)
  assert.is((await read('{"a":1}\n{"b":2}', 14)).lines.length, 1)
  assert.is((await read('{"a":1}\n', 0)).lines.length, 0)
})

test('strings may hold line separators, lone surrogates and NUL', async () => {
  const { sent, lines } = await read('{"a":"\u2028\u2029"}\n{"a":"\\ud800"}\n{"a":"\\u0000"}\n')
  assert.equal(sent, ['{"a":"\u2028\u2029"}', '{"a":"\\ud800"}', '{"a":"\\u0000"}'])
  assert.is(lines[1]?.json['a'], '\ud800')
})

test('a byte order mark is not part of the first line', async () => {
  assert.equal((await read('\uFEFF{"a":1}\n')).sent, ['{"a":1}'])
})

test('a line longer than one read is joined, even if a read ends within a character', async () => {
  const long = 'ü'.repeat(400_001)
  const { lines } = await read(`{"a":"x${long}"}\n{"b":1}\n`)
  assert.is(lines[0]?.json['a'], `x${long}`)
  assert.is(lines.length, 2)
})

test('numbers are passed on exactly', async () => {
  const exact = '{"a":[12345678901234567890,-9007199254740993,-0,1.5,1e21],"b":{"__proto__":{"c":9007199254740993}}}'
  assert.equal((await read(`${exact}\n`)).sent, [exact.replace('1e21', '1e+21')])
})

test('a number that no double can hold is passed on as text; a long fraction becomes its nearest double', async () => {
  const { sent } = await read('{"a":1e400}\n{"a":0.12345678901234567890}\n{"a":"-0","b":-0.5}\n')
  assert.equal(sent, ['{"a":"1e400"}', '{"a":0.12345678901234568}', '{"a":"-0","b":-0.5}'])
})

test('a __proto__ key is data like any other', async () => {
  const { sent } = await read('{"a":{"__proto__":{"x":1},"constructor":{"prototype":2}}}\n')
  assert.equal(sent, ['{"a":{"__proto__":{"x":1},"constructor":{"prototype":2}}}'])
})

test('reading a large file does not block other work', async () => {
  const file = join(path, 'large.jsonl')
  writeFileSync(file, `${JSON.stringify({ text: 'x'.repeat(10_000) })}\n`.repeat(4_000))
  let turns = 0
  let isOver = false
  const count = () => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  let lines = 0
  for await (const { number } of objectLines(file, statSync(file).size, () => true)) lines = number
  isOver = true
  assert.is(lines, 4_000)
  assert.ok(turns > 1, `${turns} turns`)
})

test.run()
