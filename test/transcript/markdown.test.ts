import fc from 'fast-check'
import MarkdownIt from 'markdown-it'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { hostileText } from './support/hostile.ts'
import { between, places, render, session } from './support/session.ts'
import { runs } from '../support/runs.ts'

const test = suite('transcript: Markdown')

const parser = new MarkdownIt({ html: true, linkify: false, maxNesting: 1_000 })

/** What gives a file its structure; what a message says may have any other token. */
const STRUCTURE = new Set([
  'heading_open',
  'fence',
  'html_block',
  'html_inline',
  'hr',
  'table_open',
  'link_open',
  'image',
])

/** Headings, fences, tags, rules, tables, links and pictures of a file, in order. */
const structureOf = (text: string): string[] =>
  parser
    .parse(text, {})
    .flatMap((token) =>
      [token, ...(token.children ?? [])]
        .filter(({ type }) => STRUCTURE.has(type))
        .map(({ type, tag, content }) =>
          type.startsWith('html') ? String(content.match(/<[^ >]*/g)) : `${type} ${tag}`,
        ),
    )

const ESCAPED = /\\[!-/:-@[-`{-~]/g
const CODE = /`[^`]*`/g

/** The same for a reader that goes by lines: it knows fences and indented code, but no lists and no quotes. */
const linesOf = (text: string): string[] => {
  let fence: string | undefined
  let isCode = false
  let previous = ''
  return text.split(/\r\n|[\r\n\u2028\u2029]/).flatMap((line) => {
    const run = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line)
    if (fence !== undefined) {
      if (run && run[1]!.startsWith(fence) && run[2]!.trim() === '') fence = undefined
      return []
    }
    if (run) {
      fence = run[1]!
      return ['fence']
    }
    isCode = /^(?: {4}|\t)/.test(line) && (isCode || previous.trim() === '')
    const before = previous
    previous = isCode ? '' : line
    if (isCode) return []
    const bare = line.replace(ESCAPED, '..').replace(CODE, '..')
    const heading = /^ {0,3}#{1,6}(?:\s|$)/.exec(bare)
    const isSetext = /^ {0,3}(?:=+|-+)\s*$/.test(bare) && before.trim() !== ''
    return [
      ...(heading ? [heading[0].trim()] : []),
      ...(isSetext ? ['setext'] : []),
      ...(bare.match(/<[a-z!?/]/gi) ?? []),
    ]
  })
}

const harmless = render(
  'md',
  session((place) => `the ${place}`),
)

const assertSame = (text: string) => {
  assert.equal(structureOf(text), structureOf(harmless))
  assert.equal(linesOf(text), linesOf(harmless))
}

test('in Markdown prompts are headings, thinking is folded, and results follow their calls', () => {
  const at = places.map((place) => harmless.indexOf(`the ${place}`))
  assert.ok(at.every((one) => one >= 0))
  assert.match(harmless, /## Prompt 1\n\n\*2026-01-02 15:04:05 UTC\*\n\nthe prompt\n/)
  assert.match(harmless, /<details>\n<summary>Thinking<\/summary>\n\nthe thought\n\n<\/details>\n/)
  assert.match(
    harmless,
    /\*\*Tool: Bash\*\*\n\n```bash\nthe command\n```\n\n<details>\n<summary>Failed<\/summary>\n\n```\nthe output\n```\n/,
  )
  assert.match(harmless, /```diff\n-the before\n\+the after\n```/)
})

test('no text of a session adds a heading, a fence, a tag, a rule, a table or a link', () => {
  fc.assert(
    fc.property(hostileText, (text) =>
      assertSame(
        render(
          'md',
          session((place) => between(place, text, '\n')),
        ),
      ),
    ),
    { numRuns: runs(75) },
  )
})

test('no text adds structure at the start of a line or block', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const shown = render(
        'md',
        session((place) => `${text}\nend-${place}`),
      )
      assertSame(shown)
    }),
    { numRuns: runs(75) },
  )
})

test('emphasis of text that begins or ends with whitespace adds no structure', () => {
  for (const text of ['_&#10;# x_', '**&#32;- x**', '~~x&#9;~~', '*&#10;*'])
    assertSame(
      render(
        'md',
        session((place) => `${text}\nend-${place}`),
      ),
    )
})

test('no title, model, tool, argument or other value adds structure', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const name = `a${text}a`
      const fileOf = (word: string) => {
        const messages = [
          {
            role: 'assistant',
            model: word,
            parts: [{ type: 'tool_call', content: { callId: word, toolName: word, args: { [word]: word } } }],
          },
          {
            role: 'user',
            parts: [{ type: 'tool_result', content: { callId: '', toolName: word, output: word, status: 'success' } }],
          },
        ]
        const trace = {
          title: word,
          agentId: word,
          model: word,
          projectName: word,
          gitBranch: word,
          gitRemoteUrl: word,
          cost: { usd: 1, of: 'prices', unpriced: [word] },
        }
        return render('md', messages, trace)
      }
      assert.equal(structureOf(fileOf(name)), structureOf(fileOf('harmless')))
      assert.equal(linesOf(fileOf(name)), linesOf(fileOf('harmless')))
    }),
    { numRuns: runs(75) },
  )
})

test('all words of a text are kept, with any text around them', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const shown = render(
        'md',
        session((place) => between(place, text)),
      )
      for (const place of places)
        for (const word of ['begin', 'end']) assert.ok(shown.includes(`${word}-${place}`), `${word}-${place}`)
    }),
    { numRuns: runs(50) },
  )
})

test('Markdown that a user wrote stays Markdown, except for structure', () => {
  const text =
    '# Plan\n\n1. *first* `code`\n2. [docs](https://e.example)\n\n```ts\nconst a = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 22 |\n'
  const shown = render('md', [{ role: 'assistant', parts: [{ type: 'text', content: { text } }] }])
  assert.ok(
    shown.endsWith(
      '**Plan**\n\n1. *first* `code`\n2. docs (`https://e.example`)\n\n*ts:*\n\n    const a = 1\n\n*Code:*\n\n    a  b\n    1  22\n\n',
    ),
    shown,
  )
})

test('a list of tasks keeps its boxes', () => {
  const text = '- [x] ran\n- [ ] look\n- [a] else'
  const shown = render('md', [{ role: 'assistant', parts: [{ type: 'text', content: { text } }] }])
  assert.ok(shown.endsWith('* [x] ran\n* [ ] look\n* \\[a] else\n\n'), shown)
})

test.run()
