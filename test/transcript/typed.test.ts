import fc from 'fast-check'
import MarkdownIt from 'markdown-it'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { visible } from '../../src/transcript/visible.ts'
import { runs } from '../support/runs.ts'
import { elementsOf, textOf } from './support/elements.ts'
import { hostileText } from './support/hostile.ts'
import { render, renderRows } from './support/session.ts'

const test = suite('transcript: prompts as they were typed')

const prompt = (text: string) => [
  { externalId: 'p', role: 'user', parts: [{ type: 'text', content: { text } }] },
  { externalId: 'a', role: 'assistant', parts: [{ type: 'text', content: { text: 'END' } }] },
]

/** The blocks of the prompt of a page. */
const blocksOfHtml = (source: string): string[] => {
  const ask = elementsOf(source).find(({ attrs }) => attrs.some(({ value }) => value === 'ask'))!
  return ask.childNodes.slice(1).flatMap((prose) => ('childNodes' in prose ? prose.childNodes.map(textOf) : []))
}

const commonMark = new MarkdownIt('commonmark')
const LABEL = /^\*[\w+#.-]+:\*$/

/** The blocks of the prompt of a file of Markdown, as a renderer shows them, without the labels of code. */
const blocksOfMarkdown = (source: string): string[] => {
  const [, shown] = /^## Prompt 1\n\n([\s\S]*?)### Answer\n\nEND\n\n$/m.exec(source)!
  return commonMark.parse(shown!, {}).flatMap((token) => {
    if (token.type === 'code_block') return [token.content]
    if (token.type !== 'inline') return (assert.match(token.type, /^paragraph_/), [])
    if (LABEL.test(token.content)) return []
    return [
      token
        .children!.map(({ type, content }) => {
          if (type === 'hardbreak') return '\n'
          assert.match(type, /^text(?:_special)?$/, `${type} in ${source}`)
          return content
        })
        .join(''),
    ]
  })
}

const withoutEnds = (text: string) => text.replace(/[^\S\n]+$/gm, '')

/** What may be between blocks: white space, and the lines of fences. */
const BETWEEN = /^\s*(?:(?:`{3,}|~{3,})[\w+#.-]*[^\S\n]*(?:\n\s*|$))*$/

/** Where whole lines stand in a text; -1 for nowhere. */
const indexOfLines = (text: string, lines: string): number => `\n${text}\n`.indexOf(`\n${lines}\n`)

/** Blocks show a text if their lines are in it, in its order, with nothing between them but white space and fences. */
const assertShows = (blocks: readonly string[], text: string, name: string) => {
  let rest = withoutEnds(text)
  for (const block of blocks.map((one) => withoutEnds(one).replace(/\n$/, ''))) {
    const at = indexOfLines(rest, block)
    assert.ok(at >= 0, `${name}: ${JSON.stringify(block)} in ${JSON.stringify(rest)}`)
    assert.match(rest.slice(0, at), BETWEEN, `${name}: before ${JSON.stringify(block)}`)
    rest = rest.slice(at + block.length)
  }
  assert.match(rest, BETWEEN, `${name}: at the end of ${JSON.stringify(text)}`)
}

const assertLiteral = (text: string) => {
  const shown = visible(text)
  assertShows(blocksOfHtml(render('html', prompt(text))), shown, 'a file of HTML')
  assertShows(blocksOfHtml(renderRows(prompt(text))), shown, 'a page')
  assertShows(blocksOfMarkdown(render('md', prompt(text))), shown, 'a file of Markdown')
}

const field = `rename __init__.py and all *.test.ts in src/*/lib, keep a_b_c and 2*3*4
Traceback (most recent call last):
  File "/srv/app.py", line 7, in <module>
    main()
IndexError: list index out of range

my config:
services:
  web:
    ports:
      - "80:80"
# not a heading
1) one
\\d+ and C:\\new\\*.txt <b>bold?</b> &amp; ~~no~~`

test('names, patterns, paths and the indentation of what is pasted lose nothing', () => {
  assertLiteral(field)
  assert.equal(blocksOfHtml(renderRows(prompt(field))), [field])
  assert.match(render('md', prompt(field)), `    services:\n      web:\n        ports:\n          - "80:80"\n`)
})

test('the text of any prompt is shown whole, but for its fences', () => {
  const line = fc.constantFrom(
    '    main()',
    '```',
    '```ts',
    '~~~',
    '````',
    '',
    '  ',
    '\t- x',
    'a  b   c',
    '1. one',
    '---',
    'A word.',
  )
  const typed = fc.oneof(
    hostileText,
    fc.array(fc.oneof(line, hostileText), { maxLength: 12 }).map((all) => all.join('\n')),
  )
  fc.assert(
    fc.property(
      typed.filter((text) => text.trim() !== ''),
      assertLiteral,
    ),
    { numRuns: runs(150) },
  )
})

test('fenced code is code if it is closed, and a fence says no more than a language', () => {
  const blocks = (text: string) =>
    elementsOf(renderRows(prompt(text)))
      .filter(({ tagName, attrs }) => tagName === 'pre' || (tagName === 'p' && attrs[0]!.value === 'plain'))
      .map((one) => [one.tagName, textOf(one)])
  assert.equal(blocks('Look:\n```ts\nconst a = 1\n\n\n\n  b\n```\nAnd?'), [
    ['p', 'Look:'],
    ['pre', 'const a = 1\n\n\n\n  b\n'],
    ['p', 'And?'],
  ])
  for (const text of ['```ts\nconst a', '```ts title="x"\na\n```', '```x``` and\n```', '  ```\n  a\n  ```', '```\n```'])
    assert.equal(blocks(text), [['p', text]])
})

test('addresses in a prompt and in an answer are links in a page, to where they say, and text in a file', () => {
  const text =
    'See https://e.example/a_(b)_c*d*?x=1#y, (http://f.example/z). Not https://me:secret@g.example or ftp://h.example'
  const links = (source: string) =>
    elementsOf(source)
      .filter(({ attrs }) => attrs.some(({ name }) => name === 'rel'))
      .map((one) => [textOf(one), one.attrs.find(({ name }) => name === 'href')!.value])
  const expected = [
    ['https://e.example/a_(b)_c*d*?x=1#y', 'https://e.example/a_(b)_c*d*?x=1#y'],
    ['http://f.example/z', 'http://f.example/z'],
  ]
  assert.equal(links(renderRows(prompt(text))), expected)
  assert.equal(links(render('html', prompt(text))), [])
  const answer = {
    externalId: 'a',
    role: 'assistant',
    parts: [{ type: 'text', content: { text: 'At http://f.example/z.' } }],
  }
  assert.equal(links(renderRows([answer])), expected.slice(1))
  const long = `${'word '.repeat(1_635)}https://e.example/${'x'.repeat(40)} `
  assert.is(links(renderRows(prompt(long))).length, 1, 'where a long text is cut')
})

test.run()
