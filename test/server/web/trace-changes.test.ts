import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { callerOf, openWorld, signIn } from '../../support/world.ts'
import { type Element, elementsOf, textOf } from '../../transcript/support/elements.ts'

const test = suite('web: what a session changed')

const { node } = await openWorld(test, { env: { SUMMARY_PROVIDER: 'none' } })

const { namespaceSlug, open, newTrace } = await signIn(node)
const visitor = callerOf(node)

/** A session whose id has to be encoded; returns the path of its page. */
const newPage = async (fields: object, messages: readonly object[]) =>
  (await newTrace(fields, messages, `a trace/${randomUUID()}`)).page

const shown = async (url: string): Promise<Element[]> => {
  const { statusCode, body, headers } = await open(url)
  assert.is(statusCode, 200, `${url}: ${body.slice(0, 300)}`)
  assert.match(headers['content-security-policy'] as string, "default-src 'none'")
  return elementsOf(body)
}

const attribute = ({ attrs }: Element, name: string) => attrs.find((one) => one.name === name)?.value
const ofClass = (all: readonly Element[], name: string) =>
  all.filter((element) => attribute(element, 'class')?.split(' ').includes(name))
const wordsOf = (element: Element) => textOf(element).replace(/\s+/g, ' ').trim()

const part = (type: string, content: object) => ({ type, content })
const call = (callId: string, toolName: string, args: object) => part('tool_call', { callId, toolName, args })
const result = (callId: string, status: string, output = '') =>
  part('tool_result', { callId, toolName: 'Edit', output, status })

const session = [
  { externalId: 'p/1', role: 'user', order: 0, textContent: 'Mend it' },
  {
    externalId: 'a/1',
    role: 'assistant',
    order: 1,
    timestamp: 1_767_366_245_000,
    parts: [
      call('c1', 'Edit', { file_path: '/shop/src/b.ts', old_string: 'const one = 1\n', new_string: 'const one = 2\n' }),
      call('c2', 'Write', { file_path: '/shop/a.ts', content: 'first\nsecond' }),
    ],
  },
  { externalId: 'r1', role: 'user', order: 2, parts: [result('c1', 'success'), result('c2', 'success')] },
  {
    externalId: 'a2',
    role: 'assistant',
    order: 3,
    parts: [
      call('c3', 'apply_patch', { input: '*** Begin Patch\n*** Update File: src/c.ts\n@@ here\n-old\n+new\n*** End Patch' }), // prettier-ignore
      call('c4', 'Edit', { file_path: '/shop/src/b.ts', old_string: 'x', new_string: 'y' }),
    ],
  },
  { externalId: 'r2', role: 'user', order: 4, parts: [result('c4', 'error', 'String not found\nin the file')] },
]

test('files are in the order of their first edit, each edit with its lines and a link to its message', async () => {
  const path = await newPage({ title: 'Mend it', projectPath: '/shop', projectName: 'shop' }, session)
  const all = await shown(`${path}/-/changes`)
  assert.is(wordsOf(all.find(({ tagName }) => tagName === 'h1')!), 'Mend it')
  assert.is(wordsOf(ofClass(all, 'meta')[0]!), '3 files+4 −23 edits1 failed')
  assert.equal(
    ofClass(all, 'file').map((file) => wordsOf(elementsIn(file, 'summary')[0]!)),
    ['src/b.ts+1 −12 edits', 'a.ts+21 edit', 'src/c.ts+1 −11 edit'],
  )
  assert.equal(ofClass(all, 'edit').map(wordsOf), [
    '15:04Edit 1 of 2Prompt 1',
    'Edit 2 of 2Prompt 1',
    '15:04Edit 1 of 1Prompt 1',
    'Edit 1 of 1Prompt 1',
  ])
  const links = ofClass(all, 'edit').flatMap((edit) => elementsIn(edit, 'a').map((a) => attribute(a, 'href')))
  assert.equal(
    links,
    ['a%2F1', 'a2', 'a%2F1', 'a2'].map((id) => `${path}?m=${id}`),
  )
  const lines = ofClass(all, 'diff').map((table) => elementsIn(table, 'tr').map(wordsOf))
  assert.equal(lines, [
    ['−const one = 1', '+const one = 2'],
    ['−x', '+y'],
    ['+first', '+second'],
    ['@@ here', '−old', '+new'],
  ])
  assert.equal(ofClass(all, 'note').map(wordsOf), ['Failed. String not found'])
  const outline = all.find((element) => attribute(element, 'id') === 'outline')!
  assert.equal(
    elementsIn(outline, 'a').map((a) => [attribute(a, 'href'), wordsOf(a)]),
    [
      ['#f1', 'b.tssrc+1 −1'],
      ['#f2', 'a.ts+2'],
      ['#f3', 'c.tssrc+1 −1'],
    ],
  )
})

/** The elements of this name within an element. */
const elementsIn = (element: Element, name: string): Element[] =>
  element.childNodes.flatMap((node) => {
    if (!('tagName' in node)) return []
    return [...(node.tagName === name ? [node] : []), ...elementsIn(node, name)]
  })

test('the page of a session links to its changes once files were changed', async () => {
  const path = await newPage({}, session)
  const tabs = (all: readonly Element[]) => elementsIn(ofClass(all, 'tabs')[0]!, 'a').slice(0, 2).map((a) => [attribute(a, 'href'), wordsOf(a), attribute(a, 'aria-current')]) // prettier-ignore
  assert.equal(tabs(await shown(path)), [
    [path, 'Conversation', 'page'],
    [`${path}/-/changes`, 'Changes 3', undefined],
  ])
  assert.equal(tabs(await shown(`${path}/-/changes`)), [
    [path, 'Conversation', undefined],
    [`${path}/-/changes`, 'Changes 3', 'page'],
  ])
  const without = await newPage({}, session.slice(0, 1))
  assert.not.match((await open(without)).body, '/-/changes')
  assert.match((await open(`${without}/-/changes`)).body, 'This session changed no files that its tool calls show.')
})

test('a session of many messages has all its edits', async () => {
  const many = Array.from({ length: 1_200 }, (_, i) => ({
    ...{ externalId: `m${i}`, role: 'assistant', order: i },
    parts: [call(`c${i}`, 'Write', { file_path: `file-${i % 7}`, content: `line ${i}` })],
  }))
  const all = await shown(`${await newPage({}, many)}/-/changes`)
  assert.is(wordsOf(ofClass(all, 'meta')[0]!), '7 files+1,2001,200 edits')
  assert.is(ofClass(all, 'edit').length, 1_200)
})

test('a missing trace, and one that the viewer may not read, answer as on other pages', async () => {
  const path = await newPage({ visibility: 'private' }, session)
  assert.is((await visitor.open(`${path}/-/changes`)).statusCode, 401)
  assert.is((await open(`/@${namespaceSlug}/gone/-/changes`)).statusCode, 404)
  assert.is((await open('/@no-such-namespace/gone/-/changes')).statusCode, 404)
})

test.run()
