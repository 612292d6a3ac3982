import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { viewOf } from '../../src/transcript/calls.ts'
import { newTranscript } from '../../src/transcript/transcript.ts'
import { pieces } from '../../src/transcript/highlight.ts'
import { readMessage } from '../../src/transcript/message.ts'
import { readProse } from '../../src/transcript/prose.ts'
import { newTurns } from '../../src/transcript/turns.ts'
import { visible } from '../../src/transcript/visible.ts'
import { render } from './support/session.ts'

const test = suite('transcript')

const text = (words: string) => ({ type: 'text', content: { text: words } })
const call = (callId: string) => ({ type: 'tool_call', content: { callId, toolName: 'Bash', args: {} } })
const result = (callId: string) => ({
  type: 'tool_result',
  content: { callId, toolName: 'Bash', output: callId, status: 'success' },
})

/** A message, read to its end. */
const read = (message: object) => {
  const reading = readMessage(JSON.stringify(message))
  for (;;) {
    const { done, value } = reading.next()
    if (done) return value
  }
}

/** Feeds messages, and gives what is shown of each turn: texts, and calls with the output of their result. */
const turnsOf = (messages: readonly (readonly object[])[], role = 'assistant') => {
  const turns = newTurns()
  const all = messages.flatMap((parts) => turns.add(read({ role, parts }), 100))
  return [...all, ...turns.end()].map(({ shown }) =>
    shown.map((one) => {
      if (!('is' in one)) return one.type === 'text' ? one.text : one.type
      return `${one.call.callId}: ${typeof one.result === 'string' ? one.result : one.result.output}`
    }),
  )
}

test('results follow their calls, also those of a later message', () => {
  assert.equal(turnsOf([[text('a'), call('1'), call('2')], [result('2'), result('1')], [text('b')]]), [
    ['a', '1: 1', '2: 2'],
    ['b'],
  ])
})

test('a call without a result says so, and a result without a call is shown by itself', () => {
  assert.equal(turnsOf([[call('1')], [result('2')]]), [['1: none'], ['tool_result']])
})

test('calls of one id get their results in order', () => {
  assert.equal(turnsOf([[call('1'), call('1')], [result('1')]]), [['1: 1', '1: none']])
})

test('a result that is too far from its call is shown where it is, so that memory stays bounded', () => {
  const between = Array.from({ length: 100 }, (_, i) => [text(`${i}`)])
  const shown = turnsOf([[call('1')], ...between, [result('1')]])
  assert.equal(shown[0], ['1: later'])
  assert.equal(shown.at(-1), ['tool_result'])
  assert.is(shown.length, 102)
})

test('the text of a message is shown once where its parts repeat it', () => {
  const shown = (message: object) => render('md', [{ role: 'user', ...message }]).split('hello').length - 1
  assert.is(shown({ textContent: 'hello', parts: [text('hello')] }), 1)
  assert.is(shown({ textContent: 'hello', parts: [] }), 1)
  assert.is(shown({ textContent: 'hello', parts: [text('other')] }), 1)
})

test('numbers, keys and their order are shown as stored', () => {
  const args = '{"zeta":12345678901234567890,"1":-0,"__proto__":{"x":1e300}}'
  const message = `{"role":"assistant","parts":[{"type":"tool_call","content":{"callId":"c","toolName":"t","args":${args}}}]}`
  const transcript = newTranscript('md', '{"externalId":"x"}')
  const shown = [...transcript.add(message), ...transcript.end()].join('')
  assert.match(shown, 'zeta: 12345678901234567890\n1: -0\n__proto__: {\n  "x": 1e300\n}\n')
})

test('long Markdown is parsed in pieces that are cut between blocks', () => {
  const long = Array.from(
    { length: 2_000 },
    (_, i) => `## Heading ${i}\n\nSome *words* here.\n\n\`\`\`\ncode\n\n${i}\n\`\`\`\n`,
  ).join('\n')
  const parts = [...readProse(long, { keepsLines: false })]
  assert.ok(parts.length > 5)
  assert.equal(
    parts.flat().filter(({ is }) => is === 'plain'),
    [],
  )
  assert.is(parts.flat().filter(({ is }) => is === 'heading').length, 2_000)
  assert.is(parts.flat().filter(({ is }) => is === 'code').length, 2_000)
})

/** Texts that take parsers long, or that they drop, with how much a step may make of them. */
const pathological: Readonly<Record<string, string>> = {
  'deep quotes': '>'.repeat(60_000),
  'lazy quotes': `${'>'.repeat(15)}\n${'a\n'.repeat(30_000)}`,
  'deep lists': Array.from({ length: 400 }, (_, i) => `${' '.repeat(2 * i)}- a`).join('\n'),
  brackets: '['.repeat(60_000),
  emphasis: '*a_b '.repeat(12_000),
  'a wide table': `${'a|'.repeat(10_000)}\n${'-|'.repeat(10_000)}`,
  'a long table': `a|b\n-|-\n${'a\n'.repeat(30_000)}`,
  'a line of a megabyte': 'x'.repeat(1 << 20),
  'escapes of a terminal': '\u001b[1m'.repeat(100_000),
  backticks: '`'.repeat(200_000),
  'empty lines': '\n'.repeat(100_000),
}

test('no step parses more than a piece of a text as Markdown', () => {
  for (const [name, words] of Object.entries(pathological))
    for (const parts of readProse(words, { keepsLines: true })) {
      const read = parts.filter(({ is }) => is !== 'plain')
      assert.ok(JSON.stringify(read).length < 2_000_000, name)
      if (words.length > 16 * 1024 && parts.length === 1 && parts[0]!.is === 'plain') continue
      assert.ok(parts.length <= 16 * 1024, name)
    }
})

test('pathological texts are shown whole, in pieces of bounded length', () => {
  for (const [name, words] of Object.entries(pathological))
    for (const format of ['md', 'html'] as const) {
      const transcript = newTranscript(format, '{"externalId":"x"}')
      const output = { type: 'tool_result', content: { callId: 'c', toolName: 't', output: words, status: 'success' } }
      const message = JSON.stringify({
        role: 'assistant',
        parts: [text(`begin ${words} ends`), output, text('last words')],
      })
      let shown = ''
      for (const piece of [...transcript.add(message), ...transcript.end()]) {
        assert.ok(piece.length <= 4_000_000, `${name}: ${format}`)
        shown += piece
      }
      assert.ok(shown.includes('begin') && shown.includes('ends') && shown.includes('last words'), `${name}: ${format}`)
    }
})

test('arguments are indented some thousand values at a time, however they are nested', () => {
  const stepsFor = (args: string) => [...viewOf({ type: 'tool_call', callId: 'c', toolName: 't', args })].length
  const lists = (unit: string, times: number) => stepsFor(`{"a":[${`${unit},`.repeat(times)}1]}`)
  assert.ok(lists('1', 30_000) > 14)
  assert.ok(lists(`${'['.repeat(11)}${']'.repeat(11)}`, 2_700) > 14)
  assert.ok(lists('{"a":{"b":1}}', 4_000) > 3)
})

test('the cells of a dense table are parsed some hundreds at a time, and successive tables one by one', () => {
  const row = 'a *b*|'.repeat(20)
  const tableOf = (rows: number) => [row, '-|'.repeat(20), ...Array<string>(rows).fill(row)].join('\n')
  const steps = [...readProse(tableOf(100), { keepsLines: false })]
  assert.ok(steps.length > 4, `${steps.length} steps`)
  assert.equal(steps.slice(0, -1).flat(), [])
  const [table] = steps.at(-1)!
  assert.ok(table?.is === 'table')
  const emphasis = { is: 'emphasis', content: [{ is: 'text', text: 'b' }] }
  assert.equal(table.rows, Array(101).fill(Array(20).fill([{ is: 'text', text: 'a ' }, emphasis])))
  const followed = [...readProse(`${tableOf(50)}\n\n`.repeat(3), { keepsLines: false })]
  assert.equal(
    followed.filter(({ length }) => length > 0).map((parts) => parts.map(({ is }) => is)),
    Array(3).fill(['table']),
  )
})

test('a table with far fewer cells than columns, and text with too many pictures, stay plain', () => {
  const kinds = (words: string) => [...readProse(words, { keepsLines: false })].flat().map(({ is }) => is)
  const tableOf = (columns: number, rows: readonly string[]) =>
    ['a|'.repeat(columns), '-|'.repeat(columns), ...rows].join('\n')
  assert.equal(kinds(tableOf(60, Array<string>(100).fill('b|'.repeat(60)))), ['table'])
  assert.equal(kinds(tableOf(5, Array<string>(30).fill('b'))), ['table'])
  assert.equal(kinds(tableOf(60, Array<string>(100).fill('b'))), ['plain'])
  assert.equal(kinds(`- ${tableOf(60, Array<string>(100).fill('  b')).replaceAll('\n', '\n  ')}`), ['plain'])
  assert.equal(kinds(`${'b\n'.repeat(200)}---`), ['heading'])
  assert.equal(kinds('!['.repeat(2_000)), ['plain'])
})

test('code is coloured in pieces of 2 KiB that together are the whole', () => {
  const code = Array.from({ length: 300 }, (_, i) => `const a${i} = ${i}${i % 7 ? '' : '\n'}`).join('\n')
  assert.ok(pieces(code).every(({ length }) => length <= 2_048))
  assert.is(pieces(code).join(''), code)
})

test('invisible characters are marked', () => {
  assert.is(
    visible('a\r\nb\rc\tNUL\0 ESC\u001b DEL\u007f C1\u0085 \u2028 \u{e0041} \ud800\udc00 \udc00'),
    'a\nb\nc\tNUL␀ ESC␛ DEL␡ C1⟨U+0085⟩ ⟨U+2028⟩ ⟨U+E0041⟩ \ud800\udc00 �',
  )
})

test('the head says what the session has used and cost, if that is known', () => {
  const trace = {
    usage: { inputTokens: 1_200, cacheReadTokens: 30_000, outputTokens: 400, reasoningTokens: 40 },
    cost: { usd: 4.123, of: 'prices', unpriced: ['new-1', 'new-2'] },
  }
  const [tokens, cost] = [
    '1.2 k in, 30.0 k cached, 400 out, 40 of them thinking',
    'at least $4.12 at list prices; no price is known for new-1 and new-2',
  ]
  const html = render('html', [], trace)
  assert.match(html, `<dt>Tokens</dt><dd dir="auto">${tokens}</dd><dt>Cost</dt><dd dir="auto">${cost}</dd>`)
  assert.match(
    html,
    '<div class="meta counts"><span>1.2 k tokens in</span><span>30.0 k cached</span><span>400 out</span>' +
      '<span>at least $4.12 at list prices</span></div>',
  )
  const markdown = render('md', [], trace)
  for (const [name, value] of [
    ['Tokens', tokens],
    ['Cost', cost],
  ] as const)
    assert.ok(markdown.replaceAll('\\', '').includes(`* **${name}:** ${value}\n`), markdown)
  for (const format of ['html', 'md'] as const) assert.not.match(render(format, []), /(>|\*\*)(Tokens|Cost)[<:]/)
})

test.run()
