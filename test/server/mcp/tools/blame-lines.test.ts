import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { known, messagesOf, someLines, textOf } from '../../attribution/support/sessions.ts'
import { sharedWorld, signIn } from '../../../support/world.ts'
import { callTool } from '../support.ts'

const test = suite('mcp: blame_lines')
const { node } = await sharedWorld()
const ada = await signIn(node)
const other = await signIn(node)

type Quotes = {
  quoted: boolean
  session?: string
  title?: string
  ranges: { from: number; to: number; session?: string; title?: string }[]
}
type Structured = { answer: string; leftOut: string[]; lines: object; unknown: [number, number][]; quotes: Quotes }

const blame = async (lines: readonly string[], more: object = {}, token = ada.token) => {
  const { structuredContent, content, isError } = await callTool(node, token, 'blame_lines', {
    path: 'src/a.ts',
    lines,
    ...more,
  })
  assert.not.ok(isError, JSON.stringify(content))
  for (const form of [content, structuredContent]) assert.ok(Buffer.byteLength(JSON.stringify(form)) <= 8_192)
  return structuredContent as unknown as Structured
}

const wrote = async (lines: readonly string[], fields: object = {}) => {
  const written = messagesOf('m', Date.now() - 60_000, {
    tool: 'Write',
    args: { path: 'src/a.ts', content: textOf(lines) },
    output: 'ok',
  })
  const { externalId } = await ada.newTrace({ projectPath: '/repo', ...fields }, written)
  await known(node)
  return externalId
}

test('lines are traced to sessions, which are quoted', async () => {
  const lines = someLines(3)
  const session = await wrote(lines, { title: 'a \u0007 title' })
  const { answer, lines: counts, unknown, quotes } = await blame([...lines, '}', 'typed by hand, really'], { from: 10 })
  assert.is(answer, 'Recorded sessions wrote 3 of 5 lines.')
  assert.equal(counts, { total: 5, weak: 1, replaced: 0, run: 3, moved: 0, unknown: 1 })
  assert.equal(unknown, [[13, 14]])
  const [range] = quotes.ranges
  assert.equal(
    [quotes.quoted, range!.from, range!.to, range!.session, range!.title],
    [true, 10, 12, session, 'a ␇ title'],
  )
})

test('a repository is asked about by a remote’s address', async () => {
  const lines = someLines(2)
  await wrote(lines, { gitRemoteUrl: 'git@codehost.example:team/App.git' })
  assert.equal((await blame(lines)).quotes.ranges, [])
  assert.equal((await blame(lines, { repository: 'https://codehost.example/fork/app' })).quotes.ranges.length, 1)
})

test('another namespace is not asked, and one of others refuses', async () => {
  const lines = someLines(1)
  await wrote(lines)
  assert.equal((await blame(lines, {}, other.token)).quotes.ranges, [])
  const { isError } = await callTool(node, other.token, 'blame_lines', {
    path: 'a',
    lines,
    namespace: ada.namespaceSlug,
  })
  assert.is(isError, true)
})

test('an answer stays small, and says how to get the rest', async () => {
  const lines = someLines(120)
  const calls = Array.from({ length: 60 }, (_, i) => {
    const args = { path: 'src/a.ts', old_string: 'x', new_string: lines[2 * i] }
    return messagesOf(`${'long-'.repeat(40)}${i}`, Date.now() - 60_000, { callId: `c${i}`, tool: 'Edit', args })
  })
  await ada.newTrace({ projectPath: '/repo' }, calls.flat())
  await known(node)
  const { leftOut, quotes, unknown } = await blame(lines)
  assert.ok(quotes.ranges.length >= 10)
  assert.ok(unknown.length >= 40)
  const [, from] = /^\d+ more ranges: call blame_lines with the lines from number (\d+)\.$/.exec(leftOut[0]!) ?? []
  assert.is(Number(from), 2 * quotes.ranges.length + 1)
})

test.run()
