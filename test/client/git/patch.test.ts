import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { byteLines } from '../../../src/client/git/byte-lines.ts'
import { type PatchItem, readPatch } from '../../../src/client/git/patch.ts'
import { unquotedPath } from '../../../src/client/git/quoted-path.ts'

const test = suite('patches of git')

async function* inChunks(bytes: Buffer, size: number) {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

const read = (patch: string, size = 7): Promise<PatchItem<string>[]> =>
  Array.fromAsync(readPatch(byteLines(inChunks(Buffer.from(patch), size)), String))

const SHA = 'a'.repeat(40)
const [ADDED, GONE] = [{ path: 'a.ts', previousPath: undefined }, [] as string[]]

test('a line of content that looks like a header is content', async () => {
  const patch = `${SHA}
diff --git a/a.ts b/a.ts
index 1..2 100644
--- a/a.ts
+++ b/a.ts
@@ -3,3 +3,4 @@ function
--- a/old.ts
-@@ -1 +1 @@
-rename from x
+++ b/new.ts
+diff --git a/b b/b
+${'b'.repeat(40)}
+Binary files a and b differ
@@ -9 +10,0 @@
-gone
@@ -20,0 +20 @@
+last
\\ No newline at end of file
`
  const removed = ['-- a/old.ts', '@@ -1 +1 @@', 'rename from x']
  const added = ['++ b/new.ts', 'diff --git a/b b/b', 'b'.repeat(40), 'Binary files a and b differ']
  assert.equal(await read(patch), [
    { is: 'commit', sha: SHA },
    { is: 'hunk', hunk: { ...ADDED, start: 3, added, removed } },
    { is: 'hunk', hunk: { ...ADDED, start: 20, added: ['last'], removed: GONE } },
  ])
})

test('a rename has both paths, a deleted file no hunk; binary files and submodules are said', async () => {
  const patch = `diff --git "a/old\\tname" b/new name
similarity index 90%
rename from "old\\tname"
rename to new name
--- "a/old\\tname"
+++ b/new name\t
@@ -1 +1 @@
-one
+two
diff --git a/gone.ts b/gone.ts
deleted file mode 100644
--- a/gone.ts
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/x.bin b/x.bin
Binary files a/x.bin and b/x.bin differ
diff --git a/sub b/sub
index ${'1'.repeat(40)}..${'2'.repeat(40)} 160000
--- a/sub
+++ b/sub
@@ -1 +1 @@
-Subproject commit 1
+Subproject commit 2
`
  assert.equal(await read(patch), [
    {
      is: 'hunk',
      hunk: { path: 'new name', previousPath: 'old\tname', start: 1, added: ['two'], removed: ['one'] },
    },
    { is: 'leftOut', what: 'binary' },
    { is: 'leftOut', what: 'submodule' },
  ])
})

test('of a merge hunks have what is in none of its parents, and all that is in one of them is removed', async () => {
  const patch = `diff --cc a.ts
index 1,2..3
--- a/a.ts
+++ b/a.ts
@@@ -1,4 -1,3 +1,6 @@@
- of the first
 -of the second
++one of the merge
++two of the merge
  of both
+ of the second parent not
 +of the first parent not
++three of the merge
- lost
`
  const removed = ['of the first', 'of the second', 'lost']
  assert.equal(await read(patch), [
    { is: 'hunk', hunk: { ...ADDED, start: 1, added: ['one of the merge', 'two of the merge'], removed } },
    { is: 'hunk', hunk: { ...ADDED, start: 6, added: ['three of the merge'], removed } },
  ])
})

test('lines are the same in pieces of any size', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.integer({ min: 1, max: 50 }), async (bytes, size) => {
      const text = Buffer.from(bytes.map((byte) => (byte % 5 === 0 ? 10 : byte)))
      const expected = text.toString('latin1').split('\n')
      if (expected.at(-1) === '') expected.pop()
      const found = await Array.fromAsync(byteLines(inChunks(text, size)), (line) => line.toString('latin1'))
      assert.equal(found, expected)
    }),
  )
})

/** Quotes as git does. */
const quoted = (path: Buffer): Buffer => {
  const names: Record<number, string> = {
    7: 'a',
    8: 'b',
    9: 't',
    10: 'n',
    11: 'v',
    12: 'f',
    13: 'r',
    34: '"',
    92: '\\',
  }
  const bytes = [...path].flatMap((byte) => {
    if (names[byte] !== undefined) return [...Buffer.from(`\\${names[byte]}`)]
    return byte < 32 || byte === 127 ? [...Buffer.from(`\\${byte.toString(8).padStart(3, '0')}`)] : [byte]
  })
  return Buffer.from([34, ...bytes, 34])
}

test('a quoted path is what it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), (path) => {
      const bytes = Buffer.from(path)
      assert.is(unquotedPath(quoted(bytes)), bytes.toString('utf8'))
    }),
  )
  assert.is(unquotedPath(Buffer.from('"\\303\\251.ts"')), 'é.ts')
  assert.is(unquotedPath(Buffer.from('plain name.ts')), 'plain name.ts')
  assert.is(unquotedPath(Buffer.from([0x61, 0xff])), 'a\ufffd')
})

test.run()
