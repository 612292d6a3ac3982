import fc from 'fast-check'
import jsonc from 'jsonc-parser'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { addClaudeHooks, claudeHooksIn, removeClaudeHooks } from '../../../src/client/hooks/claude-hook.ts'

const test = suite('the hook in the settings of Claude Code')
const command = `{ node main.ts hooks run claude-code --server http://x & } 3<&0`

const other = { hooks: [{ type: 'command', command: 'echo "mine"', timeout: 5 }], matcher: '' }

/** Settings as people have them: formatted in every way, with comments, with hooks of their own. */
const settings = fc
  .record({
    before: fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
    hooks: fc.option(
      fc.record(
        {
          Stop: fc.array(fc.constant(other), { maxLength: 2 }),
          SessionEnd: fc.array(fc.constant(other), { maxLength: 2 }),
          PreToolUse: fc.array(fc.constant(other), { maxLength: 1 }),
        },
        { requiredKeys: [] },
      ),
      { nil: undefined },
    ),
    after: fc.dictionary(fc.stringMatching(/^[A-Z]{1,8}$/), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 }),
    indentation: fc.constantFrom('', '  ', '    ', '\t'),
    eol: fc.constantFrom('\n', '\r\n'),
    comment: fc.constantFrom('', '// a "comment" {[\n', '/* "hooks": { */'),
    end: fc.constantFrom('', '\n', '\n\n'),
  })
  .map(({ before, hooks, after, indentation, eol, comment, end }) => {
    const text = JSON.stringify({ ...before, ...(hooks ? { hooks } : {}), ...after }, undefined, indentation)
    return (comment + text.replace('{', `{ ${comment}`) + end).replaceAll('\n', eol)
  })

test('adding the hook does not change other settings, and removing it restores the file byte for byte', () => {
  fc.assert(
    fc.property(settings, (text) => {
      const added = addClaudeHooks(text, command)
      const [was, is] = [jsonc.parse(text), jsonc.parse(added.text)]
      assert.equal(claudeHooksIn(added.text), [command, command])
      for (const event of ['Stop', 'SessionEnd']) {
        assert.equal(is.hooks[event].slice(1), was.hooks?.[event] ?? [])
        assert.equal(is.hooks[event][0], { hooks: [{ type: 'command', command }] })
      }
      assert.equal({ ...is, hooks: undefined }, { ...was, hooks: undefined })
      assert.equal(is.hooks.PreToolUse, was.hooks?.PreToolUse)
      assert.is(removeClaudeHooks(added.text, added.pieces), text)
    }),
    { numRuns: 500 },
  )
})

test('the hook is removed from settings that were reformatted, or changed beside it', () => {
  fc.assert(
    fc.property(settings, (text) => {
      const added = addClaudeHooks(text, command)
      const value = jsonc.parse(added.text)
      value.hooks.Stop.push(other)
      value.hooks.SessionEnd[0].matcher = 'x'
      const rest = removeClaudeHooks(JSON.stringify(value, undefined, 2), added.pieces)
      const was = jsonc.parse(text)
      const expected = { ...was.hooks, Stop: [...(was.hooks?.Stop ?? []), other] }
      if (expected.SessionEnd?.length === 0) delete expected.SessionEnd
      assert.equal(JSON.parse(rest), { ...was, hooks: expected })
    }),
    { numRuns: 200 },
  )
})

test('a command that the user added beside the hook stays when the hook is removed', () => {
  const text = JSON.stringify({
    hooks: { Stop: [{ hooks: [{ type: 'command', command }, ...other.hooks] }], SessionEnd: [{ hooks: [] }] },
  })
  assert.equal(JSON.parse(removeClaudeHooks(text, [])), {
    hooks: { Stop: [{ hooks: other.hooks }], SessionEnd: [{ hooks: [] }] },
  })
})

test('settings that Claude Code could not read are not changed', () => {
  for (const text of ['', '[]', '{ "a": ', '{"hooks": []}', '{"hooks": {"Stop": {}}}'])
    assert.throws(() => addClaudeHooks(text, command), /^expected .*: correct the file first$/)
  assert.is(removeClaudeHooks('{ "a": ', []), '{ "a": ')
})

test.run()
