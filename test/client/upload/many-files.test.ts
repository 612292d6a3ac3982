import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { start } from '../support/command-process.ts'
import { newCommandContext, run } from '../support/commands.ts'
import { parted } from '../support/parted.ts'

const test = suite('a session in many files')

const [FILES, BYTES] = [50, 10 << 20]
/** What a turn has that is not sent, in bytes. */
const UNSENT = 20_000
const MOST_MEMORY = 300
/** Each byte is read for the session's outline, for its secrets, and to be sent. */
const READINGS = 3

const codex = parted[0]!
const ID = '01a03d4c-1111-7222-8333-444455556666'

/** A turn with a summary of what the model thought, the full text of which is encrypted. */
const turnOf = (index: number, isFirstOfFile: boolean): string => {
  const at = (second: number) => new Date(Date.UTC(2026, 8, 9) + index * 10_000 + second * 1_000).toISOString()
  const [prompt, answer] = [`prompt ${index}`, `answer ${index}`]
  const lines = codex.lines({ index, file: 0, isFirstOfFile, prompt, answer, at })
  const thought = { type: 'reasoning', id: `r-${index}`, summary: [], encrypted_content: 'x'.repeat(UNSENT) }
  const more = { timestamp: at(4), ordinal: index * 10 + 5, type: 'response_item', payload: thought }
  return [...lines, more].map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** Writes the files, and gives the number of turns in them. */
const writeFiles = (home: string): number => {
  let index = 0
  for (let file = 0; file < FILES; file++) {
    const end = file === 0 ? '' : `_01a03d4c-1111-7222-8333-${String(file).padStart(12, '0')}`
    const path = join(home, '.codex/sessions/2026/09/09', `rollout-2026-09-09T09-00-${file + 10}-${ID}${end}.jsonl`)
    mkdirSync(dirname(path), { recursive: true })
    const opened = openSync(path, 'w')
    for (let [written, isFirst] = [0, true]; written < BYTES; isFirst = false)
      written += writeSync(opened, turnOf(index++, isFirst))
    closeSync(opened)
  }
  return index
}

/** How much memory a process has had at most, in MiB, and how many bytes it has read. */
const usedBy = (pid: number) => ({
  memory: Number(/^VmHWM:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024,
  read: Number(/^rchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))![1]),
})

if (process.platform !== 'linux') test.skip('this system does not say how much memory a process has used')

test('is read once, and in bounded memory', async () => {
  const context = await newCommandContext()
  try {
    assert.is((await run(context, 'login')).code, 0)
    const turns = writeFiles(context.home)
    const child = start(context, 'sync', '--json')
    let used = { memory: 0, read: 0 }
    const sessions: unknown[] = []
    for await (const line of createInterface({ input: child.stdout })) {
      const event = JSON.parse(line) as Readonly<Record<string, unknown>>
      if (event['type'] === 'session') sessions.push(event['externalId'])
      if (event['type'] === 'summary') assert.is(event['exitCode'], 0)
      // The process has ended once its last event is read.
      if (event['type'] !== 'summary') used = usedBy(child.pid!)
    }
    if (child.exitCode === null) await once(child, 'close')
    assert.is(sessions.filter((id) => id === ID).length, 1)
    const trace = context.server.traces.find(({ externalId }) => externalId === ID)!
    assert.is(trace.messages.size, 2 * turns)
    const readings = used.read / (FILES * BYTES)
    process.stdout.write(`${used.memory.toFixed(0)} MiB, read ${readings.toFixed(2)} times\n`)
    assert.ok(used.memory <= MOST_MEMORY, `${used.memory} MiB`)
    assert.ok(readings < READINGS + 0.5, `${readings} readings`)
  } finally {
    await context.close()
  }
})

test.run()
