import { appendFileSync, copyFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { fingerprintOf } from '../../../../src/sync/agents/support/fingerprint.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('the fingerprint of a file')
const { path: folder, remove } = tempFolder()
test.after(remove)

const path = join(folder, 'file')
const content = Array.from({ length: 5_000 }, (_, index) => `line ${index}\n`).join('')
const OFFSET = 30_000
const without = (at: number) => `${content.slice(0, at)}${content.slice(at + 1)}`
const changed = (at: number) => `${content.slice(0, at)}#${content.slice(at + 1)}`

test('stays while the file is appended to', () => {
  writeFileSync(path, content.slice(0, OFFSET))
  const before = fingerprintOf(path, OFFSET)
  appendFileSync(path, content.slice(OFFSET))
  assert.ok(before)
  assert.is(fingerprintOf(path, OFFSET), before)
})

test('differs where bytes were taken away anywhere, or others written at the beginning or before the place', () => {
  writeFileSync(path, content)
  const before = fingerprintOf(path, OFFSET)
  for (const other of [
    without(0),
    without(15_000),
    without(OFFSET - 1),
    changed(0),
    changed(4_095),
    changed(OFFSET - 1),
  ]) {
    writeFileSync(path, other)
    assert.is.not(fingerprintOf(path, OFFSET), before)
  }
  writeFileSync(path, content)
  assert.is(fingerprintOf(path, OFFSET), before)
})

test('differs for a copy that took the place of the file', () => {
  writeFileSync(path, content)
  const before = fingerprintOf(path, OFFSET)
  copyFileSync(path, `${path}.copy`)
  renameSync(`${path}.copy`, path)
  assert.is.not(fingerprintOf(path, OFFSET), before)
})

test('is none of a shorter file, and of none', () => {
  writeFileSync(path, content)
  truncateSync(path, OFFSET - 1)
  assert.is(fingerprintOf(path, OFFSET), undefined)
  assert.is(fingerprintOf(join(folder, 'none'), 0), undefined)
})

test.run()
