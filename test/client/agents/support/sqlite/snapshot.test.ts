import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { digest } from '../../../../../src/client/digest.ts'
import { columnsOf, copyFromDatabase, readDatabase } from '../../../../../src/client/agents/support/sqlite/snapshot.ts'
import { tempFolder } from '../../../support/temp.ts'
import { otherProcess } from './other-process.ts'

const test = suite('reading a database that is in use')
const { path: root, remove } = tempFolder()
test.after(remove)

let folders = 0

/** A database with one row, in a folder of its own. Its name needs escaping in an address. */
const newDatabase = (mode: 'wal' | 'delete' = 'wal') => {
  const folder = join(root, `${++folders} #?%`)
  mkdirSync(folder)
  const path = join(folder, 'sessions.db')
  const writer = new DatabaseSync(path)
  writer.exec(`PRAGMA journal_mode = ${mode}; CREATE TABLE t(a); INSERT INTO t VALUES (1)`)
  return { folder, path, writer }
}

/** The names, contents and times of all files of a folder. (For root, SQLite also renews who owns them.) */
const filesIn = (folder: string) =>
  readdirSync(folder)
    .sort()
    .map((name) => {
      const { size, mtimeNs, ino } = statSync(join(folder, name), { bigint: true })
      return [name, size, mtimeNs, ino, digest(readFileSync(join(folder, name), 'base64'))].join(' ')
    })

const rows = (path: string) =>
  readDatabase(path, (database) =>
    database
      .prepare('SELECT a FROM source.t')
      .all()
      .map(({ a }) => a),
  )

const failureOf = async (path: string): Promise<string> => {
  const error: unknown = await rows(path).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return (error as Error).message
}

/** Reads the rows, and asserts that nothing has changed in the folder. */
const readsUntouched = async (folder: string, path: string) => {
  const before = filesIn(folder)
  const found = await rows(path)
  assert.equal(filesIn(folder), before)
  return found
}

test('a closed database is read, and no file is created or changed', async () => {
  for (const mode of ['wal', 'delete'] as const) {
    const { folder, path, writer } = newDatabase(mode)
    writer.close()
    assert.equal(await readsUntouched(folder, path), [1])
  }
})

test('a database being written by another process is read with all committed data, and not changed', async () => {
  const { folder, path, writer } = newDatabase()
  writer.close()
  const other = otherProcess(
    path,
    `database.exec('INSERT INTO t VALUES (2); BEGIN; INSERT INTO t VALUES (3)'); say('ready')`,
  )
  await other.said()
  assert.equal(await readsUntouched(folder, path), [1, 2])
  await other.stop()
})

test('files left by a killed process are read, and stay for its program to recover', async () => {
  const { folder, path, writer } = newDatabase()
  writer.close()
  const other = otherProcess(path, `database.exec('INSERT INTO t VALUES (2)'); say('ready')`)
  await other.said()
  await other.stop()
  assert.ok(readdirSync(folder).includes('sessions.db-wal'))
  assert.equal(await readsUntouched(folder, path), [1, 2])
})

test('a write-ahead log without its index is read from a copy', async () => {
  const { folder, path, writer } = newDatabase()
  const moved = join(root, 'moved')
  mkdirSync(moved)
  for (const name of ['sessions.db', 'sessions.db-wal']) copyFileSync(join(folder, name), join(moved, name))
  writer.close()
  assert.equal(await readsUntouched(moved, join(moved, 'sessions.db')), [1])
  assert.equal(readdirSync(moved).sort(), ['sessions.db', 'sessions.db-wal'])
  assert.ok(path)
})

test('a database can be read while a process holds an exclusive lock on it', async () => {
  const { path, writer } = newDatabase()
  writer.close()
  const other = otherProcess(
    path,
    `database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; INSERT INTO t VALUES (2); COMMIT"); say('ready')`,
  )
  await other.said()
  assert.equal(await rows(path), [1, 2])
  await other.stop()
})

test('a rollback journal transaction of another process is waited for, then reported as the reason', async () => {
  const { folder, path, writer } = newDatabase('delete')
  writer.close()
  const other = otherProcess(
    path,
    `database.exec('PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE');
     const insert = database.prepare('INSERT INTO t VALUES (?)');
     for (let i = 0; i < 20; i++) insert.run('x'.repeat(5000));
     say('ready')`,
  )
  await other.said()
  const before = readdirSync(folder)
  assert.match(await failureOf(path), /is written without a pause/)
  assert.equal(readdirSync(folder), before)
  await other.stop()
})

test('a writer in another process never waits for a reader, nor fails', async () => {
  for (const mode of ['wal', 'delete'] as const) {
    const { path, writer } = newDatabase(mode)
    writer.exec('CREATE TABLE pairs(a, b)')
    writer.close()
    const other = otherProcess(
      path,
      `database.exec('PRAGMA busy_timeout = 0');
       let n = 0;
       const write = () => {
         try {
           database.exec('BEGIN IMMEDIATE; INSERT INTO pairs VALUES (' + ++n + ', 0); UPDATE pairs SET b = a WHERE b = 0; COMMIT');
           if (n === 20) say('ready');
           if (n < 150) setTimeout(write, 2); else say('done');
         } catch (error) { say('failed: ' + error.message) }
       };
       write()`,
    )
    assert.is(await other.said(), 'ready')
    const done = other.said()
    let last = ''
    void done.then((said) => (last = said))
    let seen = 0
    while (last === '') {
      const found = await readDatabase(path, (database) =>
        database.prepare('SELECT count(*) AS n, sum(a <> b) AS torn FROM source.pairs').get(),
      )
      assert.is(found!['torn'], 0)
      seen = Math.max(seen, Number(found!['n']))
    }
    assert.is(last, 'done')
    assert.ok(seen >= 20)
    await other.stop()
  }
})

test('a database without a write-ahead log is read again if it changes during the read', async () => {
  const { path, writer } = newDatabase('delete')
  let attempts = 0
  const found = await readDatabase(path, (source) => {
    const before = source.prepare('SELECT a FROM source.t').all().length
    if (++attempts === 1) writer.exec('INSERT INTO t VALUES (2)')
    return [before, source.prepare('SELECT a FROM source.t').all().length]
  })
  assert.equal(found, [2, 2])
  assert.is(attempts, 2)
  writer.close()
})

test('all reads see the same moment, and copied rows stay usable after it', async () => {
  const { path, writer } = newDatabase()
  const { database, result } = await copyFromDatabase(path, (source) => {
    source.exec('CREATE TABLE copied AS SELECT a FROM source.t')
    writer.exec('INSERT INTO t VALUES (2)')
    return source.prepare('SELECT count(*) AS n FROM source.t').get()
  })
  assert.is(result!['n'], 1)
  writer.close()
  rmSync(path)
  assert.is(database.prepare('SELECT a FROM copied').get()!['a'], 1)
  assert.throws(() => database.exec('SELECT a FROM source.t'))
  database.close()
})

test('the source database cannot be written through a snapshot', async () => {
  const { path, writer } = newDatabase()
  const write = () => readDatabase(path, (database) => database.exec('INSERT INTO source.t VALUES (9)'))
  assert.match(String(await write().catch((error: unknown) => error)), /readonly/)
  writer.close()
  assert.match(String(await write().catch((error: unknown) => error)), /readonly/)
})

test('a file that is not a database, or is damaged, fails with an error that says so', async () => {
  const folder = join(root, 'damaged')
  mkdirSync(folder)
  const path = join(folder, 'x.db')
  writeFileSync(path, 'x'.repeat(5_000))
  assert.match(await failureOf(path), /the database cannot be read: file is not a database/)
  const { path: whole, writer } = newDatabase()
  writer.close()
  writeFileSync(path, Buffer.concat([readFileSync(whole).subarray(0, 4_096), Buffer.alloc(4_096, 7)]))
  assert.match(await failureOf(path), /the database cannot be read: database disk image is malformed/)
  assert.match(await failureOf(join(folder, 'none.db')), /ENOENT/)
  assert.equal(readdirSync(folder), ['x.db'])
})

test('an empty file is a database without tables', async () => {
  const path = join(root, 'empty.db')
  writeFileSync(path, '')
  assert.equal(await readDatabase(path, (database) => [...columnsOf(database, 't')]), [])
})

test('the columns of a table can be listed', async () => {
  const { path, writer } = newDatabase()
  assert.equal(await readDatabase(path, (database) => [...columnsOf(database, 't'), ...columnsOf(database, 'none')]), [
    'a',
  ])
  writer.close()
})

test('a link to a database is followed, and the write-ahead log beside the database is used', async () => {
  const { path, writer } = newDatabase()
  const link = join(root, 'link.db')
  symlinkSync(path, link)
  assert.equal(await rows(link), [1])
  writer.close()
})

test('SQLite is loaded only when a database is read, and no warning is printed', () => {
  const modules = join(
    import.meta.dirname,
    '..',
    '..',
    '..',
    '..',
    '..',
    'src',
    'client',
    'agents',
    'support',
    'sqlite',
  )
  const { path, writer } = newDatabase()
  writer.close()
  const printed = execFileSync(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `import { readDatabase } from ${JSON.stringify(join(modules, 'snapshot.ts'))}
       const isLoaded = () => process.moduleLoadList.includes('NativeModule sqlite')
       const before = isLoaded()
       process.on('warning', ({ message }) => console.log(message))
       await readDatabase(${JSON.stringify(path)}, () => {})
       setTimeout(() => console.log(before, isLoaded()), 10)`,
    ],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
  )
  assert.is(printed, 'false true\n')
})

test.run()
