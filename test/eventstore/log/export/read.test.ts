import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checkExport, readExport } from '../../../../src/eventstore/log/export/read.ts'
import { newExportWriter } from '../../../../src/eventstore/log/export/write.ts'
import { newId } from '../../../../src/base/ids.ts'
import type { RecordedEvent } from '../../../../src/eventstore/log/log.ts'

const test = suite('log: an exported file')

const folder = await mkdtemp(join(tmpdir(), 'tracebook-export-'))
test.after(() => rm(folder, { recursive: true }))
const path = join(folder, 'log.ndjson')

const header = { tracebookLog: 1, logId: 'a log', scope: { is: 'log' }, exportedAt: 1 } as const

/** Appends of these sizes, in streams that take turns, with odd texts. */
const eventsOf = (...sizes: number[]): RecordedEvent[] => {
  const ends = [-1n, -1n]
  let position = 0n
  return sizes.flatMap((size, i) => {
    const append = newId()
    return Array.from({ length: size }, (_, index) => ({
      id: newId(),
      stream: `trace-${i % 2}`,
      revision: (ends[i % 2]! += 1n),
      position: (position += 2n),
      type: 'Happened',
      metadata: JSON.stringify({ at: 1, schema: 1, append: { id: append, index, size } }),
      data: '{"b":1e400, "a":"\\u0000\\ud800 ä 𝄞 \u009b\u202e\\n"}',
    }))
  })
}

const write = async (events: readonly RecordedEvent[]) => {
  let text = ''
  const writer = newExportWriter((more) => Promise.resolve((text += more)))
  await writer.header(header)
  for (const event of events) await writer.event(event)
  await writer.trailer(events.at(-1)?.position ?? 0n)
  await writeFile(path, text)
  return text.split('\n').slice(0, -1)
}

const problemOf = async (text: string): Promise<string> => {
  await writeFile(path, text)
  return checkExport(path).then(
    () => 'none',
    ({ name, message }: Error) => (name === 'BadExport' ? message : name),
  )
}
const problemOfLines = (lines: readonly string[]) => problemOf(lines.map((line) => `${line}\n`).join(''))

test('is read as it was written, with any text', async () => {
  const events = eventsOf(1, 3, 2, 1)
  await write(events)
  const file = readExport(path)
  assert.equal(await Array.fromAsync(file.events), events)
  assert.equal([file.count(), file.header(), file.trailer()!.events], [7, header, 7])
  assert.not.match(await readFile(path, 'utf8'), /[\u009b\u202e]/)
  assert.equal((await checkExport(path)).last, events.at(-1))
  await write([])
  assert.is((await checkExport(path)).trailer.events, 0)
})

test('a change of any byte, line, order or end is detected', async () => {
  const lines = await write(eventsOf(1, 3, 2, 1))
  const [head, ...rest] = lines as [string, ...string[]]
  const trailer = rest.pop()!
  assert.is(await problemOfLines(lines), 'none')
  const text = await readFile(path)
  for (let offset = 0; offset < text.length; offset += 7) {
    const changed = Buffer.from(text)
    changed[offset] = changed[offset]! ^ 1
    await writeFile(path, changed)
    const failure = await checkExport(path).catch((error: Error) => error.name)
    // The position that the trailer names is not in the hash: it is compared with the log.
    const isThrough = offset > text.length - '"through":"14"}\n'.length
    assert.ok(failure === 'BadExport' || isThrough, `byte ${offset}`)
  }
  for (let i = 0; i < rest.length; i++) {
    const without = rest.toSpliced(i, 1)
    assert.is.not(await problemOfLines([head, ...without, trailer]), 'none', `without line ${i}`)
    assert.is.not(await problemOfLines([head, ...without]), 'none')
    const moved = i === 0 ? without.length : i - 1
    assert.is.not(await problemOfLines([head, ...without.toSpliced(moved, 0, rest[i]!), trailer]), 'none')
  }
  assert.match(await problemOfLines(rest), 'line 1: the header is not the first line')
  assert.match(await problemOfLines([head, head, ...rest, trailer]), 'line 2: the header is not the first line')
  assert.match(await problemOfLines([...lines, rest[0]!]), 'the trailer is not the last line')
  assert.match(await problemOfLines([head, ...rest]), 'the file has no trailer')
  assert.match(await problemOf(''), 'the file has no header')
  assert.match(await problemOf(`${lines.join('\n')}\nmore`), 'there is text after the trailer')
  assert.match(await problemOf('%PDF-1.7\n'), 'line 1: this is not JSON')
})

test('incomplete appends, and impossible orders, are detected even if the hash is right', async () => {
  const problem = async (change: (events: RecordedEvent[]) => RecordedEvent[]) => {
    const lines = await write(change(eventsOf(1, 3, 2, 3)))
    return problemOfLines(lines)
  }
  assert.is(await problem((events) => events), 'none')
  assert.is(await problem((events) => events.slice(2)), 'none', 'the beginning of an append may be erased')
  assert.match(await problem((events) => events.toSpliced(2, 1)), 'the append before it is incomplete')
  assert.match(await problem((events) => events.slice(0, -1)), 'the last append is incomplete')
  assert.match(await problem((events) => events.toSpliced(6, 1)), 'the first events of its append are missing')
  assert.match(await problem(([a, ...rest]) => [{ ...a!, position: 99n }, ...rest]), 'its position is not greater')
  assert.match(await problem(([a, ...rest]) => [{ ...a!, revision: 99n }, ...rest]), 'its revision is not greater')
  assert.match(await problem(([a, ...rest]) => [{ ...a!, data: '{' }, ...rest]), 'its metadata or data is not JSON')
})

test('a truncated file is read up to its last whole line', async () => {
  const events = eventsOf(1, 3, 2)
  const lines = await write(events)
  const whole = `${lines.slice(0, 4).join('\n')}\n`
  await writeFile(path, whole + lines[4]!.slice(0, 30))
  const file = readExport(path)
  assert.equal(await Array.fromAsync(file.events), events.slice(0, 3))
  assert.equal([file.body().bytes, file.rest(), file.trailer()], [Buffer.byteLength(whole), 30, undefined])
})

test('segments of an append may be interleaved with other appends, which come in the order of their ends', async () => {
  const [one, first, second] = eventsOf(1, 2)
  const among = { ...first!, position: one!.position - 1n }
  const lines = await write([one!, among, second!])
  assert.is(await problemOfLines(lines), 'none')
  const [late, ...before] = [{ ...one!, position: second!.position + 2n }, among, second!]
  const swapped = await write([late, ...before])
  assert.match(await problemOfLines(swapped), /line 4: its position is not greater/)
})

test.run()
