import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { elementsOf, textOf } from './support/elements.ts'
import { hostileText } from './support/hostile.ts'
import { exactly } from '../../src/transcript/html/markup.ts'
import { pathHtml } from '../../src/transcript/html/path.ts'
import { visible } from '../../src/transcript/visible.ts'
import { between, places, render, renderRows, session } from './support/session.ts'
import { runs } from '../support/runs.ts'

const test = suite('transcript: HTML')

const TAGS = new Set(
  `html head meta title style body header main article section h1 h2 h3 h4 h5 p div span b strong em s code pre samp ul ol li dl dt
  dd blockquote hr br table tbody tr th td details summary time ins del a bdi small svg symbol use path circle rect nav button wbr`.split(
    /\s+/,
  ),
)
const ATTRIBUTES = new Set(
  `class id lang dir autofocus charset name content http-equiv open tabindex datetime start href aria-label aria-hidden aria-current data-no
  data-id data-ordinal data-shows data-fold rel type popover popovertarget popovertargetaction preserveAspectRatio viewBox d x y r rx ry cx cy width height`.split(
    /\s+/,
  ),
)

/** Addresses: places in the page, paths of this service, or the web. */
const HREF =
  /^(?:#[\w-]+|\/@own\/[\w%.!~*'()-]+(?:\?m=[\w%.!~*'()-]+(?:#m-\d+)?|\/-\/message\/[\w%.!~*'()-]+(?:\?part=\d+)?)?|https?:\/\/[^\s"'<>]+)$/

/** What of a page content must not change: all but what prose, code and terminals are made of. */
const FRAME = new Set([
  'article',
  'details',
  'summary',
  'header',
  'main',
  'section',
  'title',
  'style',
  'meta',
  'h1',
  'h2',
  'dl',
  'dt',
  'dd',
])
const frameOf = (source: string) => elementsOf(source).flatMap(({ tagName }) => (FRAME.has(tagName) ? [tagName] : []))

const assertHarmless = (source: string) => {
  for (const { tagName, attrs } of elementsOf(source)) {
    assert.ok(TAGS.has(tagName), tagName)
    for (const { name, value } of attrs) {
      assert.ok(ATTRIBUTES.has(name), `${tagName} ${name}`)
      if (name === 'class') assert.match(value, /^[\w -]+$/)
      if (name === 'start') assert.match(value, /^\d{1,10}$/)
      if (name === 'href') assert.match(value, HREF)
    }
  }
}

const harmless = render(
  'html',
  session((place) => `the ${place}`),
)

test('a page refers to no other address, and runs no scripts', () => {
  assertHarmless(harmless)
  assert.not.match(harmless, /url\(|@import|https?:|href="[^#]/)
  assert.match(harmless, /<!doctype html>/)
  assert.match(harmless, /default-src 'none'; style-src 'unsafe-inline'/)
  assert.match(harmless, /color-scheme: light dark/)
  assert.match(harmless, /@media print/)
})

test('the text of a page is the text of the session', () => {
  const [html] = elementsOf(harmless)
  for (const place of places) assert.ok(textOf(html!).includes(`the ${place}`), place)
})

test('no text of a session changes the page around it', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const source = render(
        'html',
        session((place) => between(place, text)),
      )
      assertHarmless(source)
      assert.equal(frameOf(source), frameOf(harmless))
      const shown = textOf(elementsOf(source)[0]!)
      for (const place of places)
        for (const word of ['begin', 'end']) assert.ok(shown.includes(`${word}-${place}`), `${word}-${place}`)
    }),
    { numRuns: runs(40) },
  )
})

test('no text of a session changes the page around it, or where its links lead, in a page of the service either', () => {
  const harmless = renderRows(session((place) => `the ${place}`))
  assertHarmless(harmless)
  fc.assert(
    fc.property(hostileText, fc.constantFrom('full' as const, 'talk' as const, 'tools' as const), (text, view) => {
      const rows = session((place) => between(place, text))
      const source = renderRows(rows, { view, author: text })
      assertHarmless(source)
      if (view !== 'full') return
      assert.equal(frameOf(source), frameOf(harmless))
      const shown = textOf(elementsOf(source)[0]!)
      for (const place of places)
        for (const word of ['begin', 'end']) assert.ok(shown.includes(`${word}-${place}`), `${word}-${place}`)
    }),
    { numRuns: runs(40) },
  )
})

test('in a page addresses of the web are links that say where they lead, and nothing is loaded', () => {
  const text =
    '[docs](https://e.example/a "x") [e.example](https://e.example) ![p](https://e.example/p.gif) [x](javascript:alert(1)) ' +
    '[y](https://user:pass@e.example) [z](/settings) [![p](http://a.example/p)](http://b.example) ' +
    '[https://github.example/login](https://hub.example/login)'
  const source = renderRows([{ externalId: 'a', role: 'assistant', parts: [{ type: 'text', content: { text } }] }])
  const links = elementsOf(source)
    .filter(({ tagName, attrs }) => tagName === 'a' && attrs.some(({ name }) => name === 'rel'))
    .map((one) => [textOf(one), one.attrs.find(({ name }) => name === 'href')!.value])
  assert.equal(links, [
    ['docs', 'https://e.example/a'],
    ['e.example', 'https://e.example/'],
    ['[Picture: p]', 'https://e.example/p.gif'],
    ['[Picture: p] (http://a.example/p)', 'http://b.example/'],
    ['https://github.example/login', 'https://hub.example/login'],
  ])
  assert.match(source, 'docs</a> <span class="address">(e.example)</span>')
  assert.not.match(source, '>e.example</a> <span')
  assert.match(source, 'github.example/login</a> <span class="address">(hub.example)</span>')
  assert.match(source, '<span class="link">x</span> <span class="address">(javascript:alert(1))</span>')
  assert.not.match(source, /<img|src=/)
})

const calls = (...tools: readonly string[]) =>
  tools.flatMap((toolName, i) => [
    {
      externalId: `c${i}`,
      role: 'assistant',
      parts: [{ type: 'tool_call', content: { callId: `${i}`, toolName, args: { path: `file${i}.ts` } } }],
    },
    {
      externalId: `r${i}`,
      role: 'user',
      parts: [
        {
          type: 'tool_result',
          content: { callId: `${i}`, toolName, output: `out ${i}`, status: toolName === 'Fail' ? 'error' : 'success' },
        },
      ],
    },
  ])

test('four or more quiet calls of messages with nothing else are one line, which is open if a link leads into it', () => {
  const runs = (source: string) => source.match(/<details class="run"[^>]*><summary><b>[^<]*<\/b><span>[^<]*/g)
  assert.equal(runs(renderRows(calls('Read', 'Bash', 'Read', 'Grep'))), [
    '<details class="run"><summary><b>4 calls</b><span>Read 2, Shell 1, Grep 1',
  ])
  assert.is(runs(renderRows(calls('Read', 'Read', 'Read'))), null)
  assert.is(runs(renderRows(calls('Read', 'Read', 'Fail', 'Read', 'Read'))), null, 'a failure is always in sight')
  assert.match(renderRows(calls('Read', 'Read', 'Read', 'Read'), { here: 'r2' }), '<details class="run" open>')
})

test('failures and small edits are open at first', () => {
  const edit = (lines: number) => ({
    ...{ type: 'tool_call' },
    content: {
      callId: 'e',
      toolName: 'Edit',
      args: { file_path: 'a.ts', old_string: 'x\n', new_string: 'y\n'.repeat(lines) },
    },
  })
  const isOpen = (part: object) =>
    /<details class="tool[^"]*" open>/.test(renderRows([{ externalId: 'a', role: 'assistant', parts: [part] }]))
  assert.equal([isOpen(edit(11)), isOpen(edit(12))], [true, false])
  assert.equal(
    [calls('Fail'), calls('Read')].map((messages) => / open>/.test(renderRows(messages))),
    [true, false],
  )
})

test('a difference has the numbers of the lines if the result shows them, and marks the words that differ', () => {
  const args = { file_path: 'a.ts', old_string: 'one two three\n', new_string: 'one four three\n' }
  const messages = [
    {
      externalId: 'c',
      role: 'assistant',
      parts: [{ type: 'tool_call', content: { callId: '1', toolName: 'Edit', args } }],
    },
    {
      externalId: 'r',
      role: 'user',
      parts: [
        {
          type: 'tool_result',
          content: {
            callId: '1',
            toolName: 'Edit',
            output: 'Done:\n    90→before\n    91→one four three\n',
            status: 'success',
          },
        },
      ],
    },
  ]
  const source = renderRows(messages)
  assert.match(
    source,
    '<td class="n">91</td><td class="n"></td><td class="s">−</td><td dir="ltr">one <del>two</del> three</td>',
  )
  assert.match(
    source,
    '<td class="n"></td><td class="n">91</td><td class="s">+</td><td dir="ltr">one <ins>four</ins> three</td>',
  )
})

test('no title, model, tool, argument or other value changes the page around it', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const name = `a${text}a`
      const pageOf = (word: string) => {
        const call = { type: 'tool_call', content: { callId: word, toolName: word, args: { [word]: word } } }
        const trace = {
          title: word,
          agentId: word,
          model: word,
          projectName: word,
          gitBranch: word,
          gitRemoteUrl: word,
          cost: { usd: 1, of: 'prices', unpriced: [word] },
        }
        return render('html', [{ role: 'assistant', model: word, parts: [call] }], trace)
      }
      assertHarmless(pageOf(name))
      assert.equal(frameOf(pageOf(name)), frameOf(pageOf('harmless')))
    }),
    { numRuns: runs(50) },
  )
})

const said = (text: string) => {
  const source = render('html', [{ role: 'assistant', parts: [{ type: 'text', content: { text } }] }])
  const [, shown] = /<div class="prose" dir="auto">(.*)<\/div><\/div><\/article>/s.exec(source)!
  return shown
}

test('links and pictures are text, followed by their address', () => {
  assert.is(
    said('[docs](https://e.example "x") ![p](https://e.example/p.gif) <https://e.example>'),
    '<p dir="auto"><span class="link">docs</span> <span class="address">(https://e.example &quot;x&quot;)</span> ' +
      '<span class="link">[Picture: p]</span> <span class="address">(https://e.example/p.gif)</span> ' +
      '<span class="link">https://e.example</span></p>',
  )
})

test('text runs in the direction of its block, and code from left to right', () => {
  assert.is(
    said('تم `main.ts`.\n\n1. الخطوة `a`\n\n| عمود | b |\n|---|---|\n| أ | 1 |\n\n> قال\n\n```\na // كود\n```'),
    '<p dir="auto">تم <code dir="ltr">main<wbr>.ts</code>.</p>' +
      '<ol dir="auto" start="1"><li>الخطوة <code dir="ltr">a</code></li></ol>' +
      '<div class="scroll" tabindex="0"><table dir="auto"><tr><th>عمود</th><th>b</th></tr>' +
      '<tr><td>أ</td><td>1</td></tr></table></div>' +
      '<blockquote><p dir="auto">قال</p></blockquote>' +
      '<pre class="code" dir="ltr" tabindex="0"><code>a // كود\n</code></pre>',
  )
})

test('the name of a file breaks after slashes and before dots, and is copied whole', () => {
  const names = {
    'src/server/a.b/index.test.ts': 'src/|server/|a|.b/|index|.test|.ts',
    '/srv/.env': '/srv/|.env',
    'C:\\new\\a.txt': 'C:\\|new\\|a|.txt',
    '../..': '../|..',
    'no name': 'no name',
  }
  for (const [name, expected] of Object.entries(names))
    assert.is(pathHtml(name).source, expected.replaceAll('|', '<wbr>'))
  assert.is(
    said('`src/a.ts` `a / b.c`'),
    '<p dir="auto"><code dir="ltr">src/<wbr>a<wbr>.ts</code> <code dir="ltr">a / b.c</code></p>',
  )
})

test('the boxes of a list of tasks say which are done, and nothing else is a box', () => {
  const items = said('- [x] **ran** it\n- [ ] look\n- [x]no\n- [docs](http://e.example)')!
  assert.equal(
    items
      .match(/<li.*?<\/li>/g)!
      .map((one) => one.replace(/<svg.*?href="#(.*?)".*?<\/svg>/, '$1|').replace(/<[^>]*>/g, '')),
    ['i-done|Done: ran it', 'i-open|To do: look', '[x]no', 'docs (http://e.example)'],
  )
})

test('headings of a text are below the heading of its message, and skip no level', () => {
  const levels = [...said('### a\n\n##### b\n\n#### c\n\n# d')!.matchAll(/<h(\d)/g)].map(([, level]) => Number(level))
  assert.equal(levels, [3, 4, 4, 3])
})

test('a command given as a list of words is shown as one line', () => {
  const call = {
    type: 'tool_call',
    content: { callId: 'c', toolName: 'shell', args: { command: ['bash', '-lc', 'ls -l'] } },
  }
  const source = render('html', [{ role: 'assistant', parts: [call] }])
  assert.match(source, '<span class="what"><code>ls -l</code></span>')
  assert.match(source, '<code>bash -lc ls -l</code></pre>')
})

test('invisible characters are made visible', () => {
  assert.is(said('a\0b\u202ec\ud800'), '<p dir="auto">a␀b⟨U+202E⟩c�</p>')
})

test('colours of a terminal become classes', () => {
  const output =
    '\u001b[31mred\u001b[0m \u001b[38;5;208mpalette\u001b[0m \u001b[38;2;1;2;250mtrue\u001b[0m\u001b]8;;http://e.example\u0007link\u001b]8;;\u0007'
  const part = { type: 'tool_result', content: { callId: 'c', toolName: 't', output, status: 'success' } }
  const source = render('html', [{ role: 'user', parts: [part] }])
  assert.match(
    source,
    '<span class="ansi-red">red</span> <span class="ansi-yellow">palette</span> <span class="ansi-blue">true</span>link</samp>',
  )
})

test('only a limited amount of code in one file is coloured, the rest is shown as it is', () => {
  const written = (i: number) => `let a${i} = 1\n`.repeat(1_200)
  const calls = Array.from({ length: 90 }, (_, i) => {
    const args = { path: `${i}.ts`, content: written(i) }
    return { type: 'tool_call', content: { callId: `${i}`, toolName: 'Write', args } }
  })
  const shown = render('html', [{ role: 'assistant', parts: calls }])
    .split('<pre class="code"')
    .slice(1)
  const isColoured = shown.map((code) => code.includes('hljs-keyword'))
  assert.equal([isColoured[0], isColoured.at(-1), shown.length], [true, false, 90])
  assert.ok(shown.at(-1)!.includes(written(89)))
})

test('the value of a field keeps tabs and line breaks, and shows what HTML cannot hold', () => {
  assert.is(exactly('a\tb\r\nc\0<').source, `a\tb\r\nc${visible('\0')}&lt;`)
})

test.run()
