import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { attachment, fileNameOf } from '../../../src/server/export/attachment.ts'

const test = suite('export: names of files')

test('a file is named after the title, without parts of a path', () => {
  assert.is(fileNameOf('Mend the login page'), 'Mend the login page')
  for (const title of [
    '',
    '..',
    '../../etc/passwd',
    'C:\\x',
    '.ssh',
    '\0\u202e',
    '  ',
    'CON',
    'nul.txt',
    '-rf',
    'a'.repeat(10_000),
    '\ud800',
    '🙂'.repeat(200),
  ]) {
    const name = fileNameOf(title)
    assert.match(name, /^[^.\s/\\:-][^/\\:\0-\x1f\u202e]*$/u, title)
    assert.ok(Buffer.byteLength(name) <= 121 && name.isWellFormed(), title)
  }
  assert.is(fileNameOf('CON'), '_CON')
  assert.is(
    attachment('Ünïcode "x" 漢', 'md'),
    `attachment; filename="Unicode x _.md"; filename*=UTF-8''%C3%9Cn%C3%AFcode%20x%20%E6%BC%A2.md`,
  )
  assert.is(attachment('漢字', 'html'), `attachment; filename="session.html"; filename*=UTF-8''%E6%BC%A2%E5%AD%97.html`)
})

test.run()
