import { chmod, chown, cp, lchown, mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findBinaries } from '../../src/embedded/binaries.ts'
import { requireEntry } from '../../src/embedded/entry.ts'
import { startPostgres } from '../../src/embedded/postgres.ts'
import { answers, inFolder, isRoot, NOBODY, query, recordingLog, serveIn } from './support.ts'

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
    assert.match((await serve.ready).error!, /postgres belongs to user 1, and this is user 65534/)
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

asRoot('so are programs that it cannot reach', () =>
  inFolder(async (folder) => {
    const native = dirname(dirname((await findBinaries()).postgres))
    const bin = join(folder, 'home/native/bin')
    await mkdir(bin, { recursive: true })
    await chmod(join(folder, 'home'), 0o750)
    const account = { uid: NOBODY, gid: NOBODY }
    const refusal = await requireEntry(account, bin, 'install Tracebook elsewhere').then(String, String)
    assert.match(refusal, `cannot enter ${join(folder, 'home')}:`)
    assert.is(await requireEntry(account, join(native, 'bin'), '').then(String, String), 'undefined')
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
