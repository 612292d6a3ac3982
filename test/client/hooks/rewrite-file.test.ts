import { lstatSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { rewriteFile } from '../../../src/client/hooks/rewrite-file.ts'

const test = suite('sync/hooks/rewrite-file')

const folder = mkdtempSync(join(tmpdir(), 'tracebook-rewrite-'))
test.after(() => rmSync(folder, { recursive: true }))

test('a file behind links is rewritten with its mode, and the links stay, whether the file exists or not', async () => {
  for (const [i, exists] of [true, false].entries()) {
    const [file, link, other] = ['file', 'link', 'other'].map((name) => join(folder, `${name}-${i}`)) as [string, string, string] // prettier-ignore
    symlinkSync(`file-${i}`, other)
    symlinkSync(`other-${i}`, link)
    if (exists) writeFileSync(file, 'before', { mode: 0o600 })
    await rewriteFile(link, 'after')
    assert.is(readFileSync(file, 'utf8'), 'after')
    assert.ok(lstatSync(link).isSymbolicLink() && lstatSync(other).isSymbolicLink())
    assert.is(statSync(file).mode & 0o777, exists ? 0o600 : 0o644)
  }
})

test('a link to itself is an error, and stays', async () => {
  const link = join(folder, 'self')
  symlinkSync('self', link)
  const error = await rewriteFile(link, 'after').catch((error: NodeJS.ErrnoException) => error)
  assert.is(error?.code, 'ELOOP')
  assert.ok(lstatSync(link).isSymbolicLink())
})

test.run()
