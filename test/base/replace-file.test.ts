import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { replaceFile } from '../../src/base/replace-file.ts'

const test = suite('base/replace-file')

const folder = mkdtempSync(join(tmpdir(), 'tracebook-replace-'))
test.after(() => rmSync(folder, { recursive: true }))

test('a file has the new content and the mode that is asked for, whatever the mask of the process', async () => {
  const path = join(folder, 'mode')
  writeFileSync(path, 'before', { mode: 0o600 })
  const result = await replaceFile(path, 0o666, async (file) => {
    await file.writeFile('after')
    return 5
  })
  assert.is(result, 5)
  assert.is(readFileSync(path, 'utf8'), 'after')
  assert.is(statSync(path).mode & 0o777, 0o666)
})

test('a file keeps its content if writing fails, and nothing else is left', async () => {
  const path = join(folder, 'kept')
  writeFileSync(path, 'before')
  const failed = await replaceFile(path, 0o600, async (file) => {
    await file.writeFile('half')
    throw new Error('no more')
  }).catch((error: Error) => error.message)
  assert.is(failed, 'no more')
  assert.is(readFileSync(path, 'utf8'), 'before')
  assert.equal(
    readdirSync(folder).filter((name) => name.startsWith('kept')),
    ['kept'],
  )
})

test('a link is replaced, and its target stays', async () => {
  const [path, target] = [join(folder, 'link'), join(folder, 'target')]
  writeFileSync(target, 'before')
  symlinkSync(target, path)
  await replaceFile(path, 0o600, (file) => file.writeFile('after'))
  assert.is(readFileSync(target, 'utf8'), 'before')
  assert.not(lstatSync(path).isSymbolicLink())
})

test.run()
