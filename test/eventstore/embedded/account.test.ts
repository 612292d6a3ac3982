import { execFile } from 'node:child_process'
import { chmod, chown, cp, lchown, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findBinaries } from '../../../src/eventstore/embedded/binaries.ts'
import { defaultDataDir } from '../../../src/eventstore/embedded/default-data-dir.ts'
import { lockDataDir } from '../../../src/eventstore/embedded/lock.ts'
import { startPostgres } from '../../../src/eventstore/embedded/postgres.ts'
import { reachableBinaries } from '../../../src/eventstore/embedded/reachable-binaries.ts'
import { runProgram } from '../../../src/eventstore/embedded/run-program.ts'
import { answers, inDataDir, inFolder, isRoot, NOBODY, query, recordingLog, serveIn } from './support.ts'

const test = suite('embedded postgres, users')
const asRoot = isRoot ? test : test.skip
if (!isRoot) console.log('skipped without root: what concerns other users')

const { log } = recordingLog()
const start = (dataDir: string) => startPostgres({ dataDir, log })
const refusalOf = (dataDir: string) => start(dataDir).then(String, String)

asRoot('root runs it as another user, says which, and changes nothing else', () =>
  inFolder(async (dataDir) => {
    const { log, lines } = recordingLog()
    const postgres = await startPostgres({ dataDir, log })
    const status = await readFile(`/proc/${postgres.pid()}/status`, 'utf8')
    await postgres.stop()
    const { uid } = await stat(join(dataDir, 'postgres'))
    assert.is.not(uid, 0)
    assert.match(status, new RegExp(`^Uid:\t${uid}\t${uid}\t${uid}\t${uid}$`, 'm'))
    assert.match(status, /^Groups:\s*$/m)
    assert.match(lines.join('\n'), `PostgreSQL runs as user ${uid}`)
    for (const path of [dataDir, join(dataDir, 'postgres.log')]) assert.is((await stat(path)).uid, 0)
  }),
)

asRoot('root keeps to the user that a cluster belongs to', () =>
  inFolder(async (dataDir) => {
    await chown(dataDir, NOBODY, NOBODY)
    const serve = serveIn(dataDir, { uid: NOBODY, gid: NOBODY })
    assert.is((await serve.ready).error, undefined)
    await serve.kill('SIGTERM')
    const postgres = await start(dataDir)
    const status = await readFile(`/proc/${postgres.pid()}/status`, 'utf8')
    await postgres.stop()
    assert.match(status, new RegExp(`^Uid:\t${NOBODY}\t`, 'm'))
  }),
)

asRoot('root gives a restored cluster, which is its own, to the user it needs', () =>
  inFolder(async (folder) => {
    const [before, dataDir] = [join(folder, 'before'), join(folder, 'restored')]
    await mkdir(before)
    const postgres = await start(before)
    await query(postgres.url, 'create table kept as select 1 as one')
    await postgres.stop()
    await cp(before, dataDir, { recursive: true })
    for (const name of await readdir(dataDir, { recursive: true })) await lchown(join(dataDir, name), 0, 0)
    const restored = await start(dataDir)
    const rows = await query(restored.url, 'select * from kept')
    await restored.stop()
    assert.equal(rows, [{ one: 1 }])
    assert.is.not((await stat(join(dataDir, 'postgres/base'))).uid, 0)
  }),
)

asRoot('a normal user runs it as itself', () =>
  inFolder(async (dataDir) => {
    await chown(dataDir, NOBODY, NOBODY)
    const serve = serveIn(dataDir, { uid: NOBODY, gid: NOBODY })
    const { url } = await serve.ready
    const answered = await answers(url)
    await serve.kill('SIGTERM')
    assert.ok(answered)
    assert.is((await stat(join(dataDir, 'postgres'))).uid, NOBODY)
  }),
)

asRoot('a normal user is told whose cluster it is', () =>
  inFolder(async (dataDir) => {
    await (await start(dataDir)).stop()
    await chown(dataDir, NOBODY, NOBODY)
    await chown(join(dataDir, 'postgres'), 1, 1)
    const serve = serveIn(dataDir, { uid: NOBODY, gid: NOBODY })
    assert.match((await serve.ready).error!, /postgres belongs to user 1, but this is user 65534/)
    await serve.exited
  }),
)

asRoot('a folder that the other user cannot enter is named, with what to do', () =>
  inFolder(async (folder) => {
    const closed = join(folder, 'closed')
    const dataDir = join(closed, 'deep/data')
    await mkdir(dataDir, { recursive: true })
    await chmod(closed, 0o700)
    const refusal = await refusalOf(dataDir)
    assert.match(refusal, `cannot enter ${closed}:`)
    for (const remedy of [`chmod o+x ${closed}`, 'DATA_DIR', 'DATABASE_URL']) assert.match(refusal, remedy)
    assert.equal(await readdir(dataDir), [])
    await chmod(closed, 0o711)
    await (await start(dataDir)).stop()
  }),
)

const account = { uid: NOBODY, gid: NOBODY }

asRoot('programs that it cannot reach are copied to where it can, once', () =>
  inFolder(async (folder) => {
    const [home, dataDir] = [join(folder, 'home'), join(folder, 'data')]
    await mkdir(dataDir)
    const installed = await findBinaries()
    assert.equal(await reachableBinaries(installed, account, dataDir), installed)
    await cp(dirname(dirname(installed.postgres)), join(home, 'native'), { recursive: true, verbatimSymlinks: true })
    await chmod(home, 0o700)
    const closed = { initdb: join(home, 'native/bin/initdb'), postgres: join(home, 'native/bin/postgres') }
    assert.equal(await reachableBinaries(closed, undefined, dataDir), closed)
    const copied = await reachableBinaries(closed, account, dataDir)
    const { mtimeMs } = await stat(copied.postgres)
    assert.match((await runProgram(copied.initdb, ['--version'], { account })).stdout, /^initdb \(PostgreSQL\) 18/)
    assert.equal(await reachableBinaries(closed, account, dataDir), copied)
    assert.is((await stat(copied.postgres)).mtimeMs, mtimeMs)
    assert.equal(await readdir(dataDir), [basename(dirname(dirname(copied.postgres)))])
    assert.equal(await reachableBinaries(installed, account, dataDir), installed)
    assert.equal(await readdir(dataDir), [], 'what is not needed any more goes')
  }),
)

asRoot('without a DATA_DIR root takes one of the system where its PostgreSQL could not come', () =>
  inFolder(async (folder) => {
    const project = join(folder, 'home/project')
    await mkdir(project, { recursive: true })
    assert.is(defaultDataDir(project, 0), join(project, 'data'))
    await chmod(join(folder, 'home'), 0o700)
    const ofTheSystem = defaultDataDir(project, 0)
    assert.match(ofTheSystem, /^\/var\/lib\/tracebook\/project-[0-9a-f]{8}$/)
    assert.is.not(defaultDataDir(join(folder, 'home'), 0), ofTheSystem)
    assert.is(defaultDataDir(project, NOBODY), join(project, 'data'))
    await mkdir(join(project, 'data/postgres'), { recursive: true })
    assert.is(defaultDataDir(project, 0), join(project, 'data'), 'where data are already')
  }),
)

asRoot('folders that root makes can be come through, whatever its umask', () =>
  inFolder(async (folder) => {
    const before = process.umask(0o077)
    const lock = await lockDataDir(join(folder, 'deep/data'))
    process.umask(before)
    for (const name of ['deep', 'deep/data']) assert.is((await stat(join(folder, name))).mode & 0o777, 0o711)
    await lock.release()
  }),
)

/** What a process of this user gets of a database. */
const asking = (url: string, account: { uid: number; gid: number }) => {
  const script = `
    import pg from 'pg'
    const client = new pg.Client({ connectionString: process.env.ASKED })
    await client.connect().then(() => console.log('in'), (error) => console.log(error.message))
    process.exit()`
  const args = ['--input-type=module', '--eval', script]
  const options = { ...account, cwd: join(import.meta.dirname, '..', '..', '..'), env: { ASKED: url } }
  return promisify(execFile)(process.execPath, args, options).then(({ stdout }) => stdout.trim())
}

asRoot('another process of the user that root has chosen needs the password, which is for root', () =>
  inDataDir(async (dataDir) => {
    const postgres = await start(dataDir)
    const { uid, gid } = await stat(join(dataDir, 'postgres'))
    const without = new URL(postgres.url)
    without.password = ''
    const [stranger, known] = [await asking(without.href, { uid, gid }), await answers(postgres.url)]
    await postgres.stop()
    assert.match(stranger, /password/)
    assert.ok(known)
    const file = await stat(join(dataDir, 'postgres.password'))
    assert.equal([file.uid, file.mode & 0o777], [0, 0o600])
    const again = await start(dataDir)
    assert.is(again.url, postgres.url)
    await again.stop()
  }),
)

asRoot('a password that belongs to another cluster is set in this one', () =>
  inFolder(async (dataDir) => {
    await (await start(dataDir)).stop()
    await rm(join(dataDir, 'postgres'), { recursive: true })
    const postgres = await start(dataDir)
    const known = await answers(postgres.url)
    await postgres.stop()
    assert.ok(known)
  }),
)

asRoot('a cluster that asked for none asks for it from the next start on', () =>
  inDataDir(async (dataDir) => {
    await (await start(dataDir)).stop()
    await rm(join(dataDir, 'postgres.password'))
    await rm(join(dataDir, 'postgres/tracebook.password.sha256'))
    await writeFile(join(dataDir, 'postgres/pg_hba.conf'), 'local all tracebook trust\n')
    const postgres = await start(dataDir)
    const without = new URL(postgres.url)
    without.password = ''
    const [open, known] = [await answers(without.href), await answers(postgres.url)]
    await postgres.stop()
    assert.equal([open, known], [false, true])
  }),
)

asRoot('a user without the right to write is told where', () =>
  inFolder(async (dataDir) => {
    const serve = serveIn(dataDir, { uid: NOBODY, gid: NOBODY })
    assert.match((await serve.ready).error!, dataDir)
    await serve.exited
  }),
)

test.run()
