import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { attachment, fileNameOf } from '../../src/export/attachment.ts'
import { newTranscript } from '../../src/export/transcript.ts'
import { pieces } from '../../src/export/transcript/highlight.ts'
import { readMessage } from '../../src/export/transcript/message.ts'
import { readProse } from '../../src/export/transcript/prose.ts'
import { newTurns } from '../../src/export/transcript/turns.ts'
import { visible } from '../../src/export/transcript/visible.ts'
import { render } from './support/session.ts'

const test = suite('export: transcripts')
const root = join(import.meta.dirname, '../..')

const text = (words: string) => ({ type: 'text', content: { text: words } })
const call = (callId: string) => ({ type: 'tool_call', content: { callId, toolName: 'Bash', args: {} } })
const result = (callId: string) => ({
  type: 'tool_result',
  content: { callId, toolName: 'Bash', output: callId, status: 'success' },
})

const IMPORT = /^import (?:type )?[^;]*?from '([^']+)'/gm

test('the renderer runs in a browser, too: it imports nothing of Node or of the service', () => {
  const files = ['', 'transcript', 'html', 'markdown'].flatMap((folder) =>
    readdirSync(join(root, 'src/export', folder)).flatMap((name) =>
      name.endsWith('.ts') ? [join('src/export', folder, name)] : [],
    ),
  )
  const rendering = files.filter((file) => !/export\/(?:routes|source|attachment)\.ts$/.test(file))
  assert.ok(rendering.length > 15)
  for (const file of rendering)
    for (const [, path] of readFileSync(join(root, file), 'utf8').matchAll(IMPORT)) {
      const own =
        path!.startsWith('./') || /^\.\.\/(?:transcript|document)/.test(path!) || path === '../../json/raw-values.ts'
      assert.ok(
        own ||
          path === '../../trace/messages/tool-names.ts' ||
          /^(?:markdown-it|diff|anser|highlight\.js\/)/.test(path!),
        `${file}: ${path}`,
      )
    }
})

/** Feeds messages, and gives what is shown of each turn: texts, and calls with the output of their result. */
const turnsOf = (messages: readonly (readonly object[])[], role = 'assistant') => {
  const turns = newTurns()
  const all = messages.flatMap((parts) => turns.add(readMessage(JSON.stringify({ role, parts })), 100))
  return [...all, ...turns.end()].map(({ shown }) =>
    shown.map((one) => {
      if (!('is' in one)) return one.type === 'text' ? one.text : one.type
      return `${one.call.callId}: ${typeof one.result === 'string' ? one.result : one.result.output}`
    }),
  )
}

test('results stand under their calls, also those of a later message', () => {
  assert.equal(turnsOf([[text('a'), call('1'), call('2')], [result('2'), result('1')], [text('b')]]), [
    ['a', '1: 1', '2: 2'],
    ['b'],
  ])
})

test('a call without a result says so, and a result without a call stands by itself', () => {
  assert.equal(turnsOf([[call('1')], [result('2')]]), [['1: none'], ['tool_result']])
})

test('calls of one id get their results in order', () => {
  assert.equal(turnsOf([[call('1'), call('1')], [result('1')]]), [['1: 1', '1: none']])
})

test('a result that is too far away stands where it is, so that memory stays bounded', () => {
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

test('numbers, keys and their order are shown as they are stored', () => {
  const args = '{"zeta":12345678901234567890,"1":-0,"__proto__":{"x":1e300}}'
  const message = `{"role":"assistant","parts":[{"type":"tool_call","content":{"callId":"c","toolName":"t","args":${args}}}]}`
  const transcript = newTranscript('md', '{"externalId":"x"}')
  const shown = [...transcript.add(message), ...transcript.end()].join('')
  assert.match(shown, 'zeta: 12345678901234567890\n1: -0\n__proto__: {\n  "x": 1e300\n}\n')
})

test('long Markdown is read in pieces that are cut between blocks', () => {
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

test('no step reads more than a piece of a text as Markdown', () => {
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

test('code is coloured in pieces of 2 KiB that make up the whole', () => {
  const code = Array.from({ length: 300 }, (_, i) => `const a${i} = ${i}${i % 7 ? '' : '\n'}`).join('\n')
  assert.ok(pieces(code).every(({ length }) => length <= 2_048))
  assert.is(pieces(code).join(''), code)
})

test('what cannot be seen is marked', () => {
  assert.is(
    visible('a\r\nb\rc\tNUL\0 ESC\u001b DEL\u007f C1\u0085 \u2028 \u{e0041} \ud800\udc00 \udc00'),
    'a\nb\nc\tNUL␀ ESC␛ DEL␡ C1⟨U+0085⟩ ⟨U+2028⟩ ⟨U+E0041⟩ \ud800\udc00 �',
  )
})

test('a file is named after the title, and never leaves its folder', () => {
  assert.is(fileNameOf('Mend the login page'), 'Mend the login page')
  for (const title of [
    '',
    '..',
    '../../etc/passwd',
    'C:\\x',
    '.ssh',
    '\0\u202e',
    '  ',
    'CON',
    'nul.txt',
    '-rf',
    'a'.repeat(10_000),
    '\ud800',
    '🙂'.repeat(200),
  ]) {
    const name = fileNameOf(title)
    assert.match(name, /^[^.\s/\\:-][^/\\:\0-\x1f\u202e]*$/u, title)
    assert.ok(Buffer.byteLength(name) <= 121 && name.isWellFormed(), title)
  }
  assert.is(fileNameOf('CON'), '_CON')
  assert.is(
    attachment('Ünïcode "x" 漢', 'md'),
    `attachment; filename="Unicode x _.md"; filename*=UTF-8''%C3%9Cn%C3%AFcode%20x%20%E6%BC%A2.md`,
  )
  assert.is(attachment('漢字', 'html'), `attachment; filename="session.html"; filename*=UTF-8''%E6%BC%A2%E5%AD%97.html`)
})

test.run()
