import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { fileNameOf } from '../../../src/client/transfer/output-file.ts'

const test = suite('the names of exported files')

test('an exported file is named by the session’s id', () => {
  for (const id of ['5e550000-0000-4000-8000-000000000001', 'agent-a1b2c3d4', 's_1.2', 'a'])
    assert.is(fileNameOf(id), id)
})

test('the name of an exported file never leaves the folder, is never hidden, and is never reserved by an operating system', () => {
  for (const id of [
    '../../etc/passwd',
    '/etc/passwd',
    '..',
    '.',
    '.git',
    '-rf',
    'a/b',
    'a\\b',
    'a:b',
    'con',
    'nul.txt',
    'a.',
    'a b',
    '\u202e',
  ])
    assert.match(fileNameOf(id), /^[A-Za-z0-9_][A-Za-z0-9_-]*-[0-9a-f]{16}$/, id)
})

test('the name for a long id is within the limit of file systems', () => {
  assert.ok(Buffer.byteLength(fileNameOf('ä'.repeat(1_024))) <= 120)
})

test('two ids never have the same file name, even if upper and lower case are not distinguished', () => {
  const ids = ['ses_A', 'ses_a', 'SES_A', 'a/b', 'a_b', 'a:b', 'a b', 'x'.repeat(200), 'x'.repeat(201)]
  const taken = fileNameOf('a/b')
  const names = [...ids, taken, taken.toLowerCase()].map((id) => fileNameOf(id).toLowerCase())
  assert.is(new Set(names).size, new Set([...ids, taken, taken.toLowerCase()]).size)
})

test.run()
