import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { patchedFiles } from '../../src/transcript/patches.ts'

const test = suite('transcript: the files of a patch')

/** Each file with its lines: `path +added -removed`. */
const files = (patch: string) => patchedFiles(patch).map(({ path, added, removed }) => `${path} +${added} -${removed}`)

const bodies = (patch: string) => patchedFiles(patch).map(({ from, to }) => patch.slice(from, to))

const codex = `*** Begin Patch
*** Add File: docs/new.md
+# Title
+--- not a name
+++++
*** Update File: src/old.ts
*** Move to: src/moved.ts
@@ function one()
 same
-- a list
-before
+after
*** Delete File: gone.txt
*** End Patch
`

test('the files of a patch of Codex are read', () => {
  assert.equal(files(codex), ['docs/new.md +3 -0', 'src/moved.ts +1 -2', 'gone.txt +0 -0'])
  assert.equal(bodies(codex), [
    '+# Title\n+--- not a name\n+++++\n',
    '@@ function one()\n same\n-- a list\n-before\n+after\n',
    '',
  ])
})

test('the files of a patch of git are read, even if a changed line looks like the name of a file', () => {
  const patch = `diff --git a/src/a.sql b/src/a.sql
index 1..2 100644
--- a/src/a.sql
+++ b/src/a.sql
@@ -1,3 +1,2 @@ head
 same
--- a comment of SQL
-+++ b
+++ c
@@ -9 +8 @@
-x
+y
\\ No newline at end of file
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+one
--- a/gone.txt
+++ /dev/null
@@ -1,2 +0,0 @@
-one

`
  assert.equal(files(patch), ['src/a.sql +2 -3', 'new.txt +1 -0', 'gone.txt +0 -1'])
  assert.equal(bodies(patch)[1], '@@ -0,0 +1 @@\n+one\n')
})

test('the files of patches of other tools have the paths as written', () => {
  assert.equal(files('--- old.c\t2026-01-01\n+++ new.c\t2026-01-02\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n'), ['new.c +1 -1'])
  assert.equal(files('--- a/x\n+++ y\n@@ -1 +1 @@\n-a\n+b'), ['y +1 -1'])
})

test('hunks without a file have no path, and a text without hunks changes nothing', () => {
  assert.equal(files('@@\n-a\n+b\n+c'), ['undefined +2 -1'])
  assert.equal(files('- a list\n+ of points\n-- two'), [])
  assert.equal(files(''), [])
})

test('a hunk that is shorter than it says ends with a line of another kind', () => {
  assert.equal(files('--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-a\nend\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n+b\n'), [
    'x +0 -1',
    'y +1 -0',
  ])
})

test.run()
