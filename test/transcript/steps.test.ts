import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readProse } from '../../src/transcript/prose.ts'
import { newTranscript } from '../../src/transcript/transcript.ts'
import { runs } from '../support/runs.ts'

const test = suite('transcript: the steps of long messages')

const text = (words: string) => ({ type: 'text', content: { text: words } })
const output = (words: string, toolName = 'Bash') => ({
  type: 'tool_result',
  content: { callId: 'c', toolName, output: words, status: 'success' },
})

const MIB = 1024 * 1024
/** Of a step. What is aimed at is 50 ms, which a slow machine may take twice. */
const MOST_STEP_MS = 100

/** The longest message may have 16 MiB. What takes too long in one step takes a third of that time when it has 4. */
const LONG = Math.min(runs(4), 15) * MIB

const ofLength = (unit: string, length = LONG) => unit.repeat(length / JSON.stringify(unit).slice(1, -1).length)
const withArgs = (args: string) => `{"type":"tool_call","content":{"callId":"c","toolName":"t","args":${args}}}`

/** Parts of messages of up to 16 MiB that took long in one step, or took long for what they are. */
const longParts: Readonly<Record<string, () => string>> = {
  'sequences without text': () => JSON.stringify(output(ofLength('\u001b[1m'))),
  'sequences with many codes': () => JSON.stringify(output(ofLength(`\u001b[${'1;'.repeat(24)}m`))),
  'empty lines': () => JSON.stringify(text(ofLength('\n'))),
  'blank lines': () => JSON.stringify(text(ofLength(' \n'))),
  'an open fence': () => JSON.stringify(text(`\`\`\`js\n${ofLength('let a = 1\n')}`)),
  'a line that is written over': () => JSON.stringify(output(ofLength(`50%\r\u001b[31m\u001b[K`))),
  'short lines that are written over': () => JSON.stringify(output(ofLength('ab\b\r漢\n'))),
  'moves within a line': () => JSON.stringify(output(ofLength('\u001b[1999Gx\u001b[1998G\u001b[1K\u001b[2K', MIB))),
  'a prompt of empty lines': () => JSON.stringify(text(ofLength('\r'))),
  'a prompt of short paragraphs': () => JSON.stringify(text(ofLength(' a\n\nb\n\n'))),
  'a prompt of fences': () => JSON.stringify(text(ofLength('```\na\n```\n'))),
  'a prompt of addresses': () => JSON.stringify(text(ofLength('http://a,', MIB))),
  'quotes in a text': () => JSON.stringify(output(ofLength('"'))),
  'tables with short rows': () =>
    JSON.stringify(text(`${'a|'.repeat(2_000)}\n${'-|'.repeat(2_000)}\n${'a\n'.repeat(300)}`)),
  'small tables with short rows': () =>
    JSON.stringify(text(ofLength(`${'a|'.repeat(100)}\n${'-|'.repeat(100)}\n${'a\n'.repeat(150)}\n`, MIB))),
  'dense tables': () =>
    JSON.stringify(
      text(ofLength(`${'a|'.repeat(50)}\n${'-|'.repeat(50)}\n${`${'a|'.repeat(50)}\n`.repeat(150)}\n`, MIB)),
    ),
  'nested arguments': () => withArgs(`{"a":[${ofLength(`${'['.repeat(490)}${']'.repeat(490)},`)}1]}`),
  'many lists of numbers': () =>
    withArgs(`{${Array.from({ length: 25 }, (_, i) => `"k${i}":[${'1,'.repeat(30_000)}1]`).join(',')}}`),
  'a long name of an argument': () => withArgs(`{"${ofLength('\\r\\u001b ')}":1}`),
  'a long name of a tool': () => JSON.stringify(output('', ofLength('\u001b ', MIB))),
}

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

const usual = Array.from({ length: 300 }, (_, i) => `## Heading ${i}\n\nSome *words*.\n\n\`\`\`\n${i}\n\`\`\`\n`).join(
  '\n',
)
/** What parsing the usual text takes at most where nothing else runs. */
const USUAL_MS = 2

/** How many times as long everything takes now: processor time, too, while others use the same cores. */
const timesSlower = (): number => {
  const taken = Array.from({ length: 9 }, () => {
    const before = cpuMs()
    for (const _ of readProse(usual, { keepsLines: false }));
    return cpuMs() - before
  })
  return Math.max(1, taken.sort((a, b) => a - b)[4]! / USUAL_MS)
}

/** Makes a file of a message: the time of each of its steps, and the length of the file. */
const stepsOf = (format: 'md' | 'html', message: string) => {
  const transcript = newTranscript(format, '{"externalId":"x"}')
  const steps: number[] = []
  let [length, before] = [0, cpuMs()]
  const end = () => {
    const now = cpuMs()
    steps.push(now - before)
    before = now
  }
  for (const pieces of [transcript.add(message), transcript.end()])
    for (const piece of pieces) {
      length += piece.length
      end()
    }
  end()
  return { steps, length }
}

/** A garbage collection may fall into any step, but hardly into the same one each time. */
const MOST_TRIES = 4

/** The longest step of a file, of each the least of some tries, and all of them, both as where nothing else runs; and its length. */
const measured = (format: 'md' | 'html', message: string) => {
  const { steps: least, length } = stepsOf(format, message)
  let slower = timesSlower()
  const longest = () => least.reduce((a, b) => Math.max(a, b), 0) / slower
  for (let tries = 1; tries < MOST_TRIES && longest() >= MOST_STEP_MS; tries++) {
    for (const [i, ms] of stepsOf(format, message).steps.entries()) least[i] = Math.min(least[i]!, ms)
    slower = Math.max(slower, timesSlower())
  }
  return { longest: longest(), all: least.reduce((a, b) => a + b, 0) / slower, length }
}

for (const [name, part] of Object.entries(longParts))
  test(`${name}: no step takes long, and the total work is small for the size of the message`, () => {
    const message = `{"role":"${name.startsWith('a prompt') ? 'user' : 'assistant'}","parts":[${part()}]}`
    for (const format of ['md', 'html'] as const) {
      const { longest, all, length } = measured(format, message)
      const perMiB = all / Math.max(message.length / MIB, 0.1)
      assert.ok(longest < MOST_STEP_MS, `${format}: a step of ${Math.round(longest)} ms`)
      assert.ok(perMiB < 6_000, `${format}: ${Math.round(perMiB)} ms for each MiB`)
      assert.ok(length < 50 * message.length + 20_000, `${format}: ${length} of ${message.length} characters`)
    }
  })

test.run()
