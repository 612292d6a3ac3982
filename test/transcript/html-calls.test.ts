import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newTurns } from '../../src/transcript/turns.ts'
import { callsOf } from '../../src/transcript/html/message.ts'
import { newOutline } from '../../src/transcript/html/outline.ts'
import { WHOLE, newRowRenderer } from '../../src/transcript/html/row-renderer.ts'
import { readMessage } from '../../src/transcript/message.ts'
import { atOnce } from '../../src/base/json/steps.ts'
import { renderRows } from './support/session.ts'

const test = suite('transcript: calls in HTML')

type Call = { readonly toolName: string; readonly args: object; readonly output?: string; readonly failed?: boolean }

const partsOf = ({ toolName, args, output = 'ok', failed = false }: Call, i: number) => [
  { type: 'tool_call', content: { callId: `${i}`, toolName, args } },
  { type: 'tool_result', content: { callId: `${i}`, toolName, output, status: failed ? 'error' : 'success' } },
]

/** A prompt, and one message with calls and their results. */
const withCalls = (...calls: readonly Call[]) => [
  { externalId: 'p', role: 'user', textContent: 'do it' },
  { externalId: 'a', role: 'assistant', parts: calls.flatMap(partsOf) },
]

const patch = (...lines: readonly string[]) => ({
  toolName: 'apply_patch',
  args: { patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') },
})
const edit = (before: string, after: string, output = 'ok') => ({
  toolName: 'Edit',
  args: { file_path: 'a.md', old_string: before, new_string: after },
  output,
})

const text = (source: string) =>
  source
    .replace(/<wbr>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
const outlineOf = (source: string) => text(/<nav class="outline"[\s\S]*<\/nav>/.exec(source)![0])
const cardsOf = (source: string) => [...source.matchAll(/<summary>([\s\S]*?)<\/summary>/g)].map((one) => text(one[1]!))

test('only the summary lines of a message’s calls are kept until the calls are shown', () => {
  const [, message] = withCalls(
    ...Array.from({ length: 20 }, () => patch('*** Update File: a', '@@', ...Array(900).fill('+'))),
  )
  const turns = newTurns()
  const [turn] = turns.add(atOnce(readMessage(JSON.stringify(message))), 1)
  const reading = callsOf(turn!, undefined)
  let read = reading.next()
  while (!read.done) read = reading.next()
  for (const shown of read.value.values()) assert.ok(JSON.stringify({ ...shown, result: 0 }).length < 1_000)
  const steps = [...newOutline().note({ turn: turn!, calls: read.value, isShown: true, elsewhere: undefined })]
  assert.is(steps.length, 20, 'each call is a step')
})

test('a difference of very many lines is shown as text, and of one of many only the first lines, with a link to all', () => {
  assert.not.match(renderRows(withCalls(patch('*** Update File: a', '@@', ...Array(2_500).fill('+x')))), '<table')
  const many = withCalls(patch('*** Update File: a', '@@', ...Array(1_500).fill('+x')))
  const rows = (source: string) => source.match(/<tr/g)!.length
  const source = renderRows(many)
  assert.is(rows(source), 401)
  assert.match(source, '<a href="/@own/x/-/message/a" data-fold="">1,104 more lines</a>')
  assert.is(rows(renderRows(many, { isWhole: true })), 1_504)
})

test('where unchanged lines are folded, there is a link to all of them', () => {
  const lines = Array.from({ length: 30 }, (_, i) => `line ${i}\n`).join('')
  const source = renderRows(withCalls(edit(`${lines}old`, `${lines}new`)))
  assert.match(source, '<td><a href="/@own/x/-/message/a" data-fold="">27 unchanged lines</a></td>')
})

test('line numbers are searched for only the first edits of a call', () => {
  const edits = Array.from({ length: 20 }, (_, i) => ({ old_string: `old ${i}`, new_string: `new ${i}` }))
  const output = edits.map(({ new_string }, i) => `${i + 1}\t${new_string}`).join('\n')
  const source = renderRows(withCalls({ toolName: 'MultiEdit', args: { file_path: 'a.md', edits }, output }))
  const tables = source.split('<table class="diff"').slice(1)
  assert.is(tables.length, 20)
  assert.is(tables.filter((table) => table.includes('class="n"')).length, 8)
})

test('words are compared in a limited number of pairs of lines of a page, and only in lines with few changed words', () => {
  const pair = (i: number) => edit(`one two ${i}\n`, `one three ${i}\n`)
  assert.is(renderRows(withCalls(...Array.from({ length: 1_010 }, (_, i) => pair(i)))).match(/<del>/g)!.length, 1_000)
  const words = (word: string) => Array.from({ length: 60 }, (_, i) => `same ${word}${i}`).join(' ')
  assert.not.match(renderRows(withCalls(edit(words('a'), words('b')))), '<del>')
})

test('only a patch has lines that say where other lines belong', () => {
  const shown = renderRows(
    withCalls(edit('*** Bold\n@@ at\nold', '*** Bold\n@@ at\nnew', '     7→*** Bold\n     8→@@ at\n     9→new')),
  )
  assert.not.match(shown, 'class="gap"')
  assert.match(shown, '<td class="n">9</td><td class="s">+</td>')
})

test('a changed line that looks like the head of a file is a changed line', () => {
  const shown = renderRows(
    withCalls(
      patch(
        '*** Update File: a.txt',
        '@@',
        '--- comment',
        '+++ plus',
        ' same',
        '*** Update File: b.ts',
        '@@',
        '-a',
        '+b',
      ),
    ),
  )
  assert.is(shown.match(/class="add"/g)!.length, 2)
  assert.match(shown, '<td class="s">−</td><td dir="ltr">-- comment</td>')
  assert.match(shown, '<td class="s"></td><td dir="ltr">same</td>')
  assert.equal(cardsOf(shown), [' Patch a.txt and 1 other file +2 −2 '])
  const unified = '--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- a\n+++ b\n\\ No newline at end of file'
  const git = renderRows(withCalls({ toolName: 'apply_patch', args: { input: unified } }))
  assert.match(git, '<td class="n">1</td><td class="n"></td><td class="s">−</td>')
  assert.equal(cardsOf(git), [' Patch x +1 −1 '])
})

test('each tool that changes files shows which lines, whatever it is called', () => {
  const unified = '--- x.ts\n+++ y.ts\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n'
  const shown = renderRows(
    withCalls(
      { toolName: 'patch', args: { patchText: unified } },
      { toolName: 'search_replace', args: { file_path: 'a.ts', old_string: 'a', new_string: 'b\nc' } },
      { toolName: 'str_replace_editor', args: { command: 'insert', path: 'b.ts', insert_line: 3, new_str: 'x' } },
      { toolName: 'str_replace_editor', args: { command: 'create', path: 'c.ts', file_text: '1\n2\n' } },
      { toolName: 'str_replace_editor', args: { command: 'view', path: 'd.ts' } },
    ),
  )
  assert.equal(cardsOf(shown), [
    ' Patch y.ts +1 −1 ',
    ' Edit a.ts +2 −1 ',
    ' Edit b.ts +1 ',
    ' Edit c.ts +2 ',
    ' str_replace_editor d.ts ',
  ])
  assert.is(shown.match(/<tr class="add">/g)!.length, 4, 'what is written as a whole is no difference')
  assert.match(outlineOf(shown), 'Files 4 y.ts +1 −1 a.ts +2 −1 b.ts +1 c.ts +2')
})

test('the outline counts what the lines of the calls say, also in a view without calls', () => {
  const messages = withCalls(
    { toolName: 'Write', args: { file_path: 'new.ts', content: '1\n2\n3\n' } },
    patch('*** Update File: a.ts', '@@', '-a', '+b', '*** Add File: b.ts', '+x'),
    { toolName: 'Bash', args: { command: 'make' }, failed: true },
  )
  const full = renderRows(messages)
  assert.equal(cardsOf(full).slice(0, 2), [' Write new.ts +3 ', ' Patch a.ts and 1 other file +2 −1 '])
  const outline = outlineOf(full)
  assert.match(outline, '3 tools 1 failed +5 −1')
  assert.match(outline, 'Files 3 new.ts +3 a.ts +1 −1 b.ts +1')
  const talk = renderRows(messages, { view: 'talk' })
  assert.is(outlineOf(talk), outline)
  assert.match(talk, '<a href="/@own/x?m=a" class="bad">', 'what this view does not show is a page away')
})

test('a link to a message leads to its row, which has the focus at first', () => {
  const source = renderRows(withCalls(edit('a', 'b')), { here: 'a' })
  assert.match(source, '<a class="at" href="/@own/x?m=a" autofocus>')
  assert.is(
    source.match(/<article [^>]* aria-current="true" tabindex="-1"><a class="at" href="[^"]*" autofocus>/g)!.length,
    1,
  )
})

const foldOf = (output: string) => {
  const source = renderRows(withCalls({ toolName: 'Bash', args: { command: 'make' }, output }))
  const [head, tail] = [...source.matchAll(/<pre class="out" tabindex="0"><samp>([\s\S]*?)<\/samp>/g)].map(
    (one) => one[1]!,
  )
  return { head: head!, tail, link: text(/<div class="fold">[\s\S]*?<\/div>/.exec(source)![0]) }
}

test('a folded output is cut neither inside a character nor inside a sequence of a terminal', () => {
  for (const start of ['', 'a']) {
    const { head, tail } = foldOf(start + '🙂'.repeat(10_000))
    assert.not.match(head + tail!, '�')
  }
  for (let before = 4_080; before <= 4_096; before++) {
    const mark = '\u001b[38;2;250;0;0m'
    const { head, tail } = foldOf(
      `${'x'.repeat(before)}${mark}${'y'.repeat(20_000)}${mark}${'z'.repeat(1_020 + before - 4_090)}`,
    )
    assert.match(head, /^x+(?:<span class="ansi-red">y+<\/span>)?$/)
    assert.match(tail!, /^(?:y*<span class="ansi-red">)?[yz]+(?:<\/span>)?$/)
  }
})

test('an output with more lines than are counted says that there are more', () => {
  assert.is(foldOf('x\n'.repeat(60_000)).link, ' Show the rest more than 10,000 lines, 120 kB ')
  assert.is(foldOf('x\n'.repeat(10_000)).link, ' Show 9,980 more lines 10,000 lines, 20 kB ')
})

test('only messages of the user that say something are prompts', () => {
  const user = (externalId: string, rest: object) => ({ externalId, role: 'user', ...rest })
  const source = renderRows([
    user('1', { textContent: 'one' }),
    user('2', { parts: [] }),
    user('3', { textContent: '  ' }),
    user('4', { parts: [{ type: 'text', content: { text: ' \n' } }] }),
    user('5', { parts: [{ type: 'text', content: { text: 'two' } }] }),
  ])
  assert.equal(source.match(/<h2>Prompt \d+/g), ['<h2>Prompt 1', '<h2>Prompt 2'])
  assert.is(source.match(/<article/g)!.length, 2)
})

test('a step shows a piece of limited length, even if each character becomes several', () => {
  const rows = newRowRenderer({ links: undefined }, WHOLE)
  const hidden = '\u202e'.repeat(100_000)
  const message = { externalId: 'a', role: 'assistant', parts: [{ type: 'error', content: { message: hidden } }] }
  const steps = [...rows.add(JSON.stringify(message)), ...rows.end()]
  assert.ok(Math.max(...steps.map(({ length }) => length)) <= 64 * 1024 + 100)
})

test('the outline has the tokens of the messages from one prompt to the next, those of one answer once', () => {
  const used = (externalId: string, usage: object, rest: object = {}) => ({
    externalId,
    role: 'assistant',
    textContent: 'x',
    usage,
    ...rest,
  })
  const outline = outlineOf(
    renderRows([
      used('a0', { outputTokens: 7 }),
      { externalId: 'p1', role: 'user', textContent: 'one' },
      used('a1', { inputTokens: 1_000, cacheReadTokens: 200, outputTokens: 100, reasoningTokens: 50, responseId: 'r' }),
      used('a2', { inputTokens: 9_999, responseId: 'r' }),
      used('a3', { outputTokens: 900 }, { textContent: ' ' }),
      { externalId: 'p2', role: 'user', textContent: 'two' },
      { externalId: 'a4', role: 'assistant', textContent: 'x' },
      { externalId: 'p3', role: 'user', textContent: 'three' },
      used('a5', { costUsd: 1 }),
      used('a6', { outputTokens: 0 }),
    ]),
  )
  assert.match(outline, /1 one 2\.2 k tokens 2 two 3 three 0 tokens/)
})

test.run()
