import { appendFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { rememberListing } from '../../../../../src/client/agents/support/sqlite/remember.ts'
import { tempFolder } from '../../../support/temp.ts'

const test = suite('listing a database again')
const { path: root, remove } = tempFolder()
test.after(remove)

const path = join(root, 'sessions.db')
const touch = (file: string, time: number) => utimesSync(file, time, time)

test('a database is queried again only when it or its write-ahead log has changed', async () => {
  let queries = 0
  const { latest: list } = rememberListing(() => Promise.resolve(++queries))
  writeFileSync(path, 'one')
  writeFileSync(`${path}-wal`, 'one')
  for (const file of [path, `${path}-wal`]) touch(file, 1_000)
  assert.equal([await list(path), await list(path)], [1, 1])
  appendFileSync(`${path}-wal`, 'two')
  touch(`${path}-wal`, 1_000)
  assert.equal([await list(path), await list(path)], [2, 2])
  touch(path, 2_000)
  assert.equal([await list(path), await list(path)], [3, 3])
  symlinkSync(path, join(root, 'link.db'))
  touch(`${path}-wal`, 3_000)
  assert.equal([await list(join(root, 'link.db')), await list(join(root, 'link.db'))], [4, 4])
})

test('a recently changed database is queried again, because its next change could have the same time', async () => {
  let queries = 0
  const { latest: list } = rememberListing(() => Promise.resolve(++queries))
  writeFileSync(path, 'three')
  assert.equal([await list(path), await list(path)], [1, 2])
})

test('a listing that failed is not remembered', async () => {
  let queries = 0
  const { latest: list } = rememberListing(() =>
    ++queries === 1 ? Promise.reject(new Error('locked')) : Promise.resolve(queries),
  )
  for (const file of [path, `${path}-wal`]) touch(file, 1_000)
  assert.is((await list(path).catch((error: unknown) => error as Error)) instanceof Error, true)
  assert.is(await list(path), 2)
})

test('a recent listing is reused if the latest one is not required', async () => {
  let queries = 0
  const { latest, recent } = rememberListing(() => Promise.resolve(++queries))
  assert.equal([await recent(path), await recent(path)], [1, 1])
  writeFileSync(path, 'four')
  assert.equal([await recent(path), await latest(path), await recent(path)], [1, 2, 2])
})

test.run()
