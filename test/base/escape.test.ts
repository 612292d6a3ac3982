import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { escapeControls, escapeControlsInLines, shellWord } from '../../src/base/escape.ts'

const test = suite('plain text for a terminal')

test('characters that a terminal obeys or a person does not see are shown escaped', () => {
  const shown: readonly (readonly [string, string])[] = [
    ['\u001b[2J\u001b]0;title\u0007', '\\u001b[2J\\u001b]0;title\\u0007'],
    ['\u009b2J \u0085 \u007f \0', '\\u009b2J \\u0085 \\u007f \\u0000'],
    ['done\r\nLogged in\tas root', 'done\\u000d\\u000aLogged in\\u0009as root'],
    ['\u202egpj.exe\u2066\u061c\u200f', '\\u202egpj.exe\\u2066\\u061c\\u200f'],
    ['ad\u200ba \u2028 \ufeff \u{e0041}', 'ad\\u200ba \\u2028 \\ufeff \\udb40\\udc41'],
    ['half \ud800', 'half \\ud800'],
  ]
  for (const [said, expected] of shown) assert.is(escapeControls(said), expected)
})

test('letters of all kinds stay as they are', () => {
  for (const text of ['/home/ada/çöde – 日本語', 'עברית عربى', '🎉👍🏽', 'e\u0301'])
    assert.equal([escapeControls(text), escapeControls(escapeControls(text))], [text, text])
})

test('a JSON document stays the same document', () => {
  const document = { file: '/w/\u001b[2J\u009b\u202e\n\u{e0041}.jsonl', count: 1 }
  assert.equal(JSON.parse(escapeControls(JSON.stringify(document))), document)
})

test('the line breaks of our own messages stay', () => {
  assert.is(escapeControlsInLines('one\ntwo\u001b[A'), 'one\ntwo\\u001b[A')
})

test('a word for a shell is quoted so that nothing in it ends it, also as it is pasted', () => {
  assert.is(shellWord('plain-1.0/x@y:z'), 'plain-1.0/x@y:z')
  assert.is(shellWord("it's; rm -rf $HOME"), `'it'\\''s; rm -rf $HOME'`)
  assert.is(shellWord(''), "''")
  assert.is(shellWord("a\u001b[201~\nrm'\\"), "$'a\\x1b[201~\\x0arm\\'\\\\'")
  assert.is(shellWord('a\u202eb'), "$'a\\xe2\\x80\\xaeb'")
})

test.run()
