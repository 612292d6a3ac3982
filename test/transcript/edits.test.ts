import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { editsOf, linesOfEdit } from '../../src/transcript/edits.ts'
import { toolName } from '../../src/transcript/tool-names.ts'

const test = suite('transcript: what calls change in files')

type Args = Readonly<Record<string, unknown>>

/** Each change as `path +added -removed`. */
const changes = (tool: string, args: Args) =>
  editsOf(toolName(tool), args).map((edit) => {
    const { added, removed } = linesOfEdit(edit)
    return `${edit.path} +${added} -${removed}`
  })

const patch = '*** Begin Patch\n*** Update File: a.ts\n@@\n-1\n+2\n+3\n*** Add File: b.ts\n+1\n*** End Patch'

const known: readonly (readonly [agent: string, tool: string, args: Args, changes: readonly string[]])[] = [
  ['Claude Code', 'Edit', { file_path: '/w/a', old_string: '1\n2\n3', new_string: '1\n4\n3' }, ['/w/a +1 -1']],
  [
    'Claude Code',
    'MultiEdit',
    {
      file_path: 'a',
      edits: [
        { old_string: '1', new_string: '1\n2' },
        { old_string: '3', new_string: '' },
      ],
    },
    ['a +1 -0', 'a +0 -1'],
  ],
  ['Claude Code', 'Write', { file_path: 'a', content: '1\n2\n' }, ['a +2 -0']],
  ['Claude Code', 'NotebookEdit', { notebook_path: 'a.ipynb', new_source: 'x\ny', cell_id: '1' }, ['a.ipynb +2 -0']],
  ['Codex', 'apply_patch', { input: patch }, ['a.ts +2 -1', 'b.ts +1 -0']],
  ['Codex', 'apply_patch', { patch }, ['a.ts +2 -1', 'b.ts +1 -0']],
  ['Codex', 'shell', { command: ['apply_patch', patch] }, ['a.ts +2 -1', 'b.ts +1 -0']],
  ['Codex', 'shell', { command: ['bash', '-lc', `apply_patch <<'EOF'\n${patch}\nEOF\n`] }, ['a.ts +2 -1', 'b.ts +1 -0']], // prettier-ignore
  ['Codex', 'exec_command', { cmd: `apply_patch <<'EOF'\n${patch}\nEOF` }, ['a.ts +2 -1', 'b.ts +1 -0']],
  ['opencode', 'edit', { filePath: 'a', oldString: '1', newString: '2' }, ['a +1 -1']],
  ['opencode', 'multiedit', { filePath: 'a', edits: [{ oldString: '1', newString: '2' }] }, ['a +1 -1']],
  ['opencode', 'write', { filePath: 'a', content: '' }, ['a +0 -0']],
  ['opencode', 'patch', { patchText: patch }, ['a.ts +2 -1', 'b.ts +1 -0']],
  ['Gemini CLI', 'replace', { file_path: 'a', old_string: '', new_string: '1' }, ['a +1 -0']],
  ['Gemini CLI', 'write_file', { file_path: 'a', content: '1' }, ['a +1 -0']],
  ['Qwen Code', 'edit', { file_path: 'a', old_string: 'two', new_string: 'TWO' }, ['a +1 -1']],
  ['Qwen Code', 'write_file', { file_path: 'a', content: '1' }, ['a +1 -0']],
  ['Copilot CLI', 'create', { path: 'a', file_text: '1\n2' }, ['a +2 -0']],
  ['Copilot CLI', 'edit', { path: 'a', old_str: '1', new_str: '2' }, ['a +1 -1']],
  ['Copilot CLI', 'str_replace_editor', { command: 'insert', path: 'a', insert_line: 3, new_str: '1' }, ['a +1 -0']],
  ['Copilot CLI', 'str_replace_editor', { command: 'view', path: 'a' }, []],
  ['pi', 'edit', { path: 'a', oldText: '1', newText: '2' }, ['a +1 -1']],
  ['pi', 'edit', { path: 'a', oldText: '1' }, ['a +0 -1']],
  ['pi', 'write', { path: 'a', content: '1' }, ['a +1 -0']],
  ['Amp', 'edit_file', { path: 'a', old_str: '1', new_str: '2' }, ['a +1 -1']],
  ['Amp', 'create_file', { path: 'a', content: '1' }, ['a +1 -0']],
  ['Cursor', 'edit_file', { target_file: 'a', code_edit: '// ... existing code ...' }, ['a +0 -0']],
  ['Cursor', 'search_replace', { file_path: 'a', old_string: '1', new_string: '2' }, ['a +1 -1']],
  ['Cursor', 'delete_file', { target_file: 'a' }, ['a +0 -0']],
  ['VS Code', 'multi_replace_string_in_file', { replacements: [{ filePath: 'a', oldString: '1', newString: '2' }, { filePath: 'b', oldString: '1', newString: '1' }] }, ['a +1 -1', 'b +0 -0']], // prettier-ignore
  ['Cline', 'replace_in_file', { path: 'a', diff: '<<<<<<< SEARCH\n- 1\n=======\n- 2\n>>>>>>> REPLACE' }, ['a +0 -0']],
  ['a tool with a difference', 'edit', { path: 'a', diff: '@@ -1 +1 @@\n-1\n+2' }, ['a +1 -1']],
]

for (const [agent, tool, args, expected] of known)
  test(`the edits of ${tool} of ${agent} with ${Object.keys(args).join(', ')} are read`, () =>
    assert.equal(changes(tool, args), expected))

test('a call has no edits if the tool or its arguments name none', () => {
  assert.equal(changes('Read', { file_path: 'a', content: '1' }), [])
  assert.equal(changes('mcp__files__edit', { path: 'a', old_string: '1', new_string: '2' }), [])
  assert.equal(changes('Edit', {}), [])
  assert.equal(changes('Edit', { file_path: 'a' }), [])
  assert.equal(changes('Edit', { file_path: 1, old_string: 2, new_string: null, edits: 'x' }), [])
  assert.equal(changes('MultiEdit', { file_path: 'a', edits: [null, 3, 'x', [], {}] }), [])
  assert.equal(changes('Bash', { command: `cat <<'EOF'\n${patch}\nEOF` }), [])
  assert.equal(changes('Bash', { command: 'apply_patch --help' }), [])
  assert.equal(changes('delete_file', { target_file: '' }), [])
})

test('a member of the prototype does not count as an argument', () => {
  assert.equal(changes('Write', Object.create({ path: 'a', content: '1' }) as Args), [])
  assert.equal(changes('Bash', Object.create({ command: `apply_patch ${patch}` }) as Args), [])
})

test('lines without a path are counted', () => {
  assert.equal(changes('Edit', { old_string: '1', new_string: '2' }), ['undefined +1 -1'])
})

test.run()
