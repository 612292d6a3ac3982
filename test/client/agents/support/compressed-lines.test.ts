import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { firstBytes } from '../../../../src/client/agents/support/chunks.ts'
import { objectLines } from '../../../../src/client/agents/support/lines.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('lines of a compressed session file')
const { path, remove } = tempFolder()
test.after(remove)

const write = (content: Buffer | string): string => {
  const file = join(path, 'lines.jsonl.zst')
  writeFileSync(file, content)
  return file
}

const read = async (content: Buffer | string) => {
  const malformed: number[] = []
  const lines = await Array.fromAsync(
    objectLines(
      write(content),
      Buffer.byteLength(content),
      () => false,
      (line) => malformed.push(line),
    ),
  )
  return { numbers: lines.map(({ number }) => number), malformed }
}
const numbersTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)
/** Lines that do not become much smaller. */
const noise = (count: number) =>
  numbersTo(count)
    .map((number) => `${JSON.stringify({ number, noise: String(Math.sin(number)).repeat(4) })}\n`)
    .join('')

test('the lines are the same as in the plain file, across all frames', async () => {
  const content = Buffer.concat([zstdCompressSync('{"a":1}\n\n{"a":2}\n{"a"'), zstdCompressSync(':3}\n{"a":4}')])
  assert.equal(await read(content), { numbers: [1, 3, 4, 5], malformed: [] })
})

test('a truncated or damaged file gives the lines before the damage, and one malformed line', async () => {
  const whole = zstdCompressSync(noise(50_000))
  const cut = await read(whole.subarray(0, whole.length - 100))
  assert.ok(cut.numbers.length > 1_000)
  assert.equal(cut.malformed, [cut.numbers.length + 1])
  const broken = Buffer.from(whole).fill(0, whole.length >> 1, (whole.length >> 1) + 99)
  const { numbers, malformed } = await read(broken)
  assert.equal(numbers, numbersTo(numbers.length))
  assert.equal(malformed, [numbers.length + 1])
})

test('a file that was never compressed is one malformed line', async () => {
  assert.equal(await read('{"a":1}\n'), { numbers: [], malformed: [1] })
})

test('a missing file is an error, not a malformed line', async () => {
  const reading = Array.fromAsync(
    objectLines(
      join(path, 'none.jsonl.zst'),
      9,
      () => false,
      () => assert.unreachable(),
    ),
  )
  assert.is((await reading.catch((error: NodeJS.ErrnoException) => error.code)) as unknown, 'ENOENT')
})

test('the beginning can be read without reading the rest', async () => {
  const text = noise(50_000)
  assert.is((await firstBytes(write(zstdCompressSync(text)), 1_000)).toString(), text.slice(0, 1_000))
  assert.is((await firstBytes(write(zstdCompressSync('short')), 1_000)).toString(), 'short')
  assert.is((await firstBytes(write('no zstd'), 1_000)).length, 0)
})

test.run()
