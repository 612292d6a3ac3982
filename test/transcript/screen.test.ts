import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { outputText } from '../../src/transcript/screen.ts'
import { readTerminal } from '../../src/transcript/terminal.ts'
import { runs } from '../support/runs.ts'
import { elementsOf, textOf } from './support/elements.ts'
import { render, renderRows } from './support/session.ts'

const test = suite('transcript: what a terminal shows in the end')

const screenText = (output: string) => outputText({ toolName: 'Bash', output })

const ESCAPE = '\u001b'

/** A character with its colour and marks. */
type Seen = readonly [character: string, style: string]

const seenOf = (text: string): Seen[] =>
  [...readTerminal(text)].flatMap(({ text, ...style }) => [...text].map((one): Seen => [one, JSON.stringify(style)]))

/** Without what cannot be seen: spaces at the end of lines, and colours of line ends. */
const seenLines = (seen: readonly Seen[]): string[] => {
  const lines: Seen[][] = [[]]
  for (const one of seen)
    if (one[0] === '\n') lines.push([])
    else lines.at(-1)!.push(one)
  return lines.map((line) => {
    while (line.at(-1)?.[0] === ' ') line.pop()
    return JSON.stringify(line)
  })
}

const TOKEN = new RegExp(`${ESCAPE}\\[(\\d*)([A-Za-z])|[\\s\\S]`, 'gu')

/** With a line end for the only carriage return of a line if what follows it is shorter than what it would leave standing. */
const withWholeLines = (text: string): string =>
  text
    .split('\n')
    .map((line) => {
      const [before = '', after = '', ...more] = line.replace(/\r$/, '').split('\r')
      const lengthOf = (part: string) => part.replace(new RegExp(`${ESCAPE}\\[\\d*[A-Za-z]`, 'g'), '').length
      const isHalf = more.length === 0 && !/\u001b\[\d*K/.test(after) && lengthOf(after) < lengthOf(before)
      return after !== '' && isHalf ? line.replace('\r', '\n') : line
    })
    .join('\n')

/** A second model, slow and plain: each line is a list of columns, which each sign makes anew. Knows only what the property writes. */
const modelOf = (text: string): Seen[] => {
  let style = ''
  let column = 0
  let line: (Seen | 'half')[] = []
  const done: Seen[] = []
  const blank: Seen = [' ', '{}']
  const cut = (at: number) => {
    if (line[at] === 'half') line = line.map((one, i) => (i === at - 1 || i === at ? blank : one))
  }
  const put = (columns: (Seen | 'half')[]) => {
    while (line.length < column) line = [...line, blank]
    cut(column)
    cut(column + columns.length)
    line = [...line.slice(0, column), ...columns, ...line.slice(column + columns.length)]
    column += columns.length
  }
  for (const [token, digits, sign] of text.matchAll(TOKEN)) {
    const count = Math.max(1, Number(digits || 0))
    if (sign === 'm') style = Number(digits) === 0 ? '' : style + token
    else if (sign === 'C') column += count
    else if (sign === 'D') column = Math.max(0, column - count)
    else if (sign === 'G') column = count - 1
    else if (sign === 'K') {
      const what = Number(digits || 0)
      if (what !== 0) line = line.map((one, i) => (i <= column || (i === column + 1 && one === 'half') ? blank : one))
      if (what !== 1) {
        cut(column)
        line = line.slice(0, column)
      }
    } else if (token === '\r') column = 0
    else if (token === '\b') column = Math.max(0, column - 1)
    else if (token === '\t')
      do column += 1
      while (column % 8 !== 0)
    else if (token === '\n') {
      done.push(...line.filter((one) => one !== 'half'), ['\n', '{}'])
      line = []
      column = 0
    } else {
      const seen: Seen = [token, JSON.stringify({ ...seenStyle(style) })]
      put(token === '漢' ? [seen, 'half'] : [seen])
    }
  }
  return [...done, ...line.filter((one) => one !== 'half')]
}

const seenStyle = (sequences: string): object => {
  const { text: _, ...style } = [...readTerminal(`${sequences}x`)].find((span) => span.text === 'x')!
  return style
}

const piece = fc.constantFrom(
  ...['a', 'b', ' ', '50%', '[##  ]', '漢', '\r', '\r', '\r\n', '\n', '\b', '\t'],
  ...['K', '0K', '1K', '2K', 'G', '4G', '2C', 'D', '3D', 'm', '0m', '31m', '1m', '32m'].map(
    (end) => `${ESCAPE}[${end}`,
  ),
)

test('each line is what a second model of a terminal makes of it, in the same colours', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const text = pieces.join('')
      const shown = screenText(text)
      assert.not.match(shown, /\r(?!\n|$)|[\b]/)
      // Of a carriage return before a line end nothing is seen.
      const seen = seenLines(seenOf(shown).filter(([character]) => character !== '\r'))
      const expected = seenLines(modelOf(withWholeLines(text)))
      // Tabs that were not overwritten are still tabs.
      if (shown.includes('\t')) return
      assert.equal(seen, expected, JSON.stringify([text, shown]))
    }),
    { numRuns: runs(1_000) },
  )
})

test('what is shown stays what it is, and text without changes is the same text', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.string({ unit: 'binary' }), (pieces, other) => {
      const shown = screenText(pieces.join(''))
      assert.is(screenText(shown), shown)
      const plain = other.replace(/[\r\b\u001b]/g, '')
      assert.is(screenText(plain), plain)
    }),
  )
})

test('a text that a shorter one would half cover stays, on a line of its own', () => {
  assert.is(screenText('begin and more\r# not it\r\nend'), 'begin and more\n# not it\r\nend')
  assert.is(screenText('begin\r# all of it'), '# all of it')
  assert.is(screenText(`begin\r${ESCAPE}[Kall`), 'all')
  assert.is(screenText('begin\r10 %\r9 %'), '9 %%n')
})

const bar = `Downloading set.tar${Array.from({ length: 101 }, (_, i) => `\r  ${i}% [${'#'.repeat(i / 5).padEnd(20)}] ${i} MB`).join('')}\nsaved  \bset.tar\r\nnot this\r${ESCAPE}[Klast line\n`
const lines = '  100% [####################] 100 MB\nsaved set.tar\nlast line\n'

const messages = (toolName: string) => [
  {
    externalId: 'a',
    role: 'assistant',
    parts: [{ type: 'tool_call', content: { callId: 'c', toolName, args: { command: 'x' } } }],
  },
  {
    externalId: 'r',
    role: 'user',
    parts: [{ type: 'tool_result', content: { callId: 'c', toolName, output: bar, status: 'success' } }],
  },
]

test('a bar of progress is one line, in a page and in files', () => {
  const outputOf = (source: string) => textOf(elementsOf(source).find(({ tagName }) => tagName === 'samp')!)
  assert.is(screenText(bar).replace('\r\n', '\n'), lines)
  assert.is(outputOf(renderRows(messages('Bash'))), lines)
  assert.is(outputOf(render('html', messages('Bash'))), lines)
  assert.ok(render('md', messages('Bash')).includes(`\`\`\`\n${lines}\`\`\``))
  assert.ok(render('json', messages('Bash')).includes('77 MB'), 'what is stored')
})

test('the carriage returns of a file that was read end lines', () => {
  const isForScreen = (toolName: string) => outputText({ toolName, output: 'a\rb' }) === 'b'
  assert.equal(['Bash', 'mcp__ci__run', '', 'Read', 'read_file', 'WebFetch'].map(isForScreen), [
    true,
    true,
    true,
    false,
    false,
    false,
  ])
  assert.match(render('md', messages('Read')), /77 MB/)
})

test('a line that no terminal has is only divided', () => {
  const long = 'x'.repeat(2_001)
  assert.is(screenText(`a\r${long}\rb\n${ESCAPE}[99999Cx`), `a\n${long}\nb\n${ESCAPE}[99999Cx`)
})

test('the reason for which a call was refused is shown without what the agent wrote around it', () => {
  const output = '<tool_use_error>File has not been read yet. <b></tool_use_error>'
  assert.is(outputText({ toolName: 'Edit', output }), 'File has not been read yet. <b>')
  for (const other of [`${output}\n`, '<tool_use_error>', 'a</tool_use_error>'])
    assert.is(outputText({ toolName: 'Edit', output: other }), other)
})

test.run()
