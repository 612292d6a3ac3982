import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Part } from '../../../src/contract/message.ts'
import { addShown, callsIn, changedFrom, without } from '../../../src/server/trace/written-lines.ts'

const test = suite('written lines')

const call = (toolName: string, args: Record<string, unknown>, callId = 'c'): Part => ({
  type: 'tool_call',
  content: { callId, toolName, args },
})

const lines = (...names: string[]) => names.map((name) => `const ${name} = 1\n`).join('')

/** What a call writes and replaces, by file; white space is left out. */
const changes = (toolName: string, args: Record<string, unknown>) =>
  callsIn([call(toolName, args)]).flatMap(({ files }) =>
    files.map(({ path, isWhole, old, now }) => [path, isWhole, without(now, old), without(old, now)]),
  )
const line = (name: string) => `const${name}=1`

const PATCH = `*** Begin Patch
*** Update File: src/a.ts
@@
 ${lines('same').trim()}
-${lines('old').trim()}
+${lines('fresh').trim()}
*** Add File: src/b.ts
+${lines('added').trim()}
*** End Patch`

test('of an edit the lines that only the new text has are written, and those that only the old one has are replaced', () => {
  const args = { file_path: 'a', old_string: lines('same', 'old'), new_string: lines('fresh', 'same') }
  assert.equal(changes('Edit', args), [['a', false, [line('fresh')], [line('old')]]])
})

test('lines are counted: one that occurs more often than before is written', () => {
  const args = { file_path: 'a', old_string: lines('same'), new_string: lines('same', 'same') }
  assert.equal(changes('Edit', args), [['a', false, [line('same')], []]])
})

test('several edits of a file in one call count together: a line that is moved is not written', () => {
  const edits = [
    { old_string: lines('moved'), new_string: lines('first') },
    { old_string: lines('last'), new_string: lines('moved') },
  ]
  assert.equal(changes('MultiEdit', { file_path: 'a', edits }), [['a', false, [line('first')], [line('last')]]])
})

test('a patch is of several files, also as a command of the shell', () => {
  const expected = [
    ['src/a.ts', false, [line('fresh')], [line('old')]],
    ['src/b.ts', false, [line('added')], []],
  ]
  assert.equal(changes('apply_patch', { input: PATCH }), expected)
  assert.equal(changes('shell', { command: ['apply_patch', PATCH] }), expected)
})

test('a file is written whole, and what is put into one is not the whole', () => {
  assert.equal(changes('Write', { file_path: 'C:\\a', content: lines('all') }), [['C:/a', true, [line('all')], []]])
  const inserted = { command: 'insert', path: 'a', insert_text: lines('some') }
  assert.equal(changes('str_replace_editor', inserted), [['a', false, [line('some')], []]])
})

test('commands, reading tools and calls without a path write nothing', () => {
  assert.equal(changes('Bash', { command: `cat > a <<EOF\n${lines('here')}EOF` }), [])
  assert.equal(changes('Read', { file_path: 'a', content: lines('all') }), [])
  assert.equal(changes('Edit', { old_string: '', new_string: lines('fresh') }), [])
})

test('of a call that writes very much nothing is known', () => {
  const content = Array.from({ length: 20_000 }, (_, i) => `const value${i} = 1`).join('\n')
  assert.is(callsIn([call('Write', { file_path: 'a', content })])[0]!.files[0]!.now.size, 20_000)
  assert.equal(callsIn([call('Write', { file_path: 'a', content: `${content}\nconst more = 1` })]), [])
  assert.equal(callsIn([call('Write', { file_path: 'a', content: 'x\n'.repeat(2 * 1024 * 1024) })]), [])
})

test('copies of a call have the same identity, and other calls with its id do not', () => {
  const identity = (args: Record<string, unknown>, id?: string) => callsIn([call('Write', args, id)])[0]!.identity
  const args = { file_path: 'a', content: lines('all') }
  assert.is(identity(args), identity({ ...args }))
  assert.is.not(identity(args), identity({ ...args, content: lines('other') }))
  assert.is.not(identity(args), identity(args, 'd'))
})

test('a call is found by its place among the calls of its message', () => {
  const parts = [
    call('Bash', { command: 'ls' }),
    call('Read', { file_path: 'a' }),
    call('Write', { path: 'a', content: 'b' }),
  ]
  assert.equal(
    callsIn([{ type: 'text', content: { text: 'now' } }, ...parts]).map(({ nth, shows }) => [nth, shows]),
    [
      [1, 'a'],
      [2, undefined],
    ],
  )
})

for (const [agent, before] of [
  ['Claude Code', '     1→'],
  ['opencode', '00001| '],
  ['Codex', '1\t'],
  ['an agent without numbers', ''],
] as const)
  test(`what a result of ${agent} shows is not written again`, () => {
    const shown = new Map<string, number>()
    addShown(shown, lines('one', 'two').replaceAll('const', `${before}const`))
    const { files } = callsIn([call('Write', { path: 'a', content: lines('two', 'three') })])[0]!
    assert.equal(changedFrom(shown, files[0]!.now), { written: [line('three')], replaced: [line('one')] })
  })

test.run()
