import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startPostgres } from '../../../src/eventstore/embedded/postgres.ts'
import { pathsIn } from '../../../src/eventstore/embedded/paths.ts'
import { runningProcesses } from '../../../src/eventstore/embedded/processes.ts'
import { allOf, answers, inDataDir, isAlive, query, recordingLog, serveIn, serversOf, startAndStop } from './support.ts'
import { until } from '../../support/until.ts'

const test = suite('embedded postgres, killed')

const guardsOf = async (dataDir: string) => {
  const { marker } = await pathsIn(dataDir)
  const isGuard = ({ command }: { command: readonly string[] }) =>
    command[0] === '/bin/sh' && command.includes(`cluster_name=${marker}`)
  return (await runningProcesses()).filter(isGuard).map(({ pid }) => pid)
}

test('ends by itself when its Tracebook is killed and no other starts', () =>
  inDataDir(async (dataDir) => {
    const serve = serveIn(dataDir)
    const { pid } = await serve.ready
    await serve.kill('SIGKILL')
    await until(async () => !(await isAlive(pid)))
    await until(async () => (await allOf(dataDir)).length === 0 && (await guardsOf(dataDir)).length === 0)
    assert.not.ok((await readdir(join(dataDir, 'postgres'))).includes('postmaster.pid'), 'its lock is gone')
  }))

test('starts at once after a kill -9 of the whole process group', () =>
  inDataDir(async (dataDir) => {
    for (const round of [1, 2]) {
      const serve = serveIn(dataDir)
      const { url, error } = await serve.ready
      assert.is(error, undefined)
      await query(url, `create table round_${round} as select 1`)
      await serve.kill('SIGKILL', true)
    }
    await startAndStop(dataDir)
  }))

test('ends an orphaned server whose guard is gone, and goes on with its data', () =>
  inDataDir(async (dataDir) => {
    const serve = serveIn(dataDir)
    const { pid, url } = await serve.ready
    await query(url, 'create table kept as select 1 as one')
    // Guards of a folder that has just been removed may share our inode, and so the marker, for a second.
    await until(async () => (await guardsOf(dataDir)).length === 1)
    for (const guard of await guardsOf(dataDir)) process.kill(guard, 'SIGKILL')
    await until(async () => (await guardsOf(dataDir)).length === 0)
    await serve.kill('SIGKILL', true)
    assert.ok(await answers(url), 'an orphan')
    const { log, lines } = recordingLog()
    const postgres = await startPostgres({ dataDir, log })
    const rows = await query(postgres.url, 'select * from kept')
    await postgres.stop()
    assert.equal(rows, [{ one: 1 }])
    assert.not.ok(await isAlive(pid))
    assert.match(lines.join('\n'), 'orphaned PostgreSQL')
  }))

test('is not in our process group, where Ctrl-C would stop it while we still need it', () =>
  inDataDir(async (dataDir) => {
    const serve = serveIn(dataDir)
    const { pid } = await serve.ready
    const groupOf = async (pid: number) => (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ')[2]
    if (process.platform === 'linux') assert.is.not(await groupOf(pid), await groupOf(serve.pid))
    await serve.kill('SIGTERM')
    assert.is(serve.exitCode(), 0)
    assert.equal(await allOf(dataDir), [])
  }))

test('comes back under the same address when the server, or all of it, is killed', () =>
  inDataDir(async (dataDir) => {
    const { log, lines } = recordingLog()
    const postgres = await startPostgres({ dataDir, log })
    await query(postgres.url, 'create table kept as select 1 as one')
    const first = postgres.pid()
    process.kill(first, 'SIGKILL')
    await until(async () => postgres.pid() !== first && (await answers(postgres.url)))
    const second = postgres.pid()
    for (const { pid } of await allOf(dataDir)) process.kill(pid, 'SIGKILL')
    await until(async () => postgres.pid() !== second && (await answers(postgres.url)))
    assert.equal(await query(postgres.url, 'select * from kept'), [{ one: 1 }])
    assert.equal(await serversOf(dataDir), [postgres.pid()])
    await until(async () => (await guardsOf(dataDir)).length === 1)
    await postgres.stop()
    assert.equal(await allOf(dataDir), [])
    assert.is(lines.filter((line) => line.startsWith('PostgreSQL has ended, starting it again')).length, 2)
  }))

test('is not confused by lock files with the process id of another program', () =>
  inDataDir(async (dataDir) => {
    const serve = serveIn(dataDir)
    await serve.ready
    for (const pid of await guardsOf(dataDir)) process.kill(pid, 'SIGKILL')
    await serve.kill('SIGKILL')
    for (const { pid } of await allOf(dataDir)) process.kill(pid, 'SIGKILL')
    await until(async () => (await allOf(dataDir)).length === 0)
    const { uid, gid } = await stat(join(dataDir, 'postgres'))
    const stranger = spawn('sleep', ['600'], { ...(process.getuid?.() === 0 && { uid, gid }) })
    await once(stranger, 'spawn')
    for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
      const file = join(dataDir, 'postgres', name)
      await writeFile(file, (await readFile(file, 'utf8')).replace(/^\d+/, `${stranger.pid}`))
    }
    try {
      assert.match(await startAndStop(dataDir), 'removing a stale lock')
      assert.is(stranger.exitCode, null)
    } finally {
      stranger.kill('SIGKILL')
    }
  }))

/** A process that has ended, and whose parent never asks how: signals still find it. */
const zombie = async () => {
  const parent = spawn('sh', ['-c', 'sleep 1 & echo $!; exec sleep 600'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(parent.stdout.setEncoding('utf8'), 'data')
  const pid = Number(line)
  await until(async () => !(await isAlive(pid)))
  return { pid, bury: () => parent.kill('SIGKILL') }
}

test('starts despite the locks of a server that was killed and not yet reaped', () =>
  inDataDir(async (dataDir) => {
    const serve = serveIn(dataDir)
    await serve.ready
    for (const pid of await guardsOf(dataDir)) process.kill(pid, 'SIGKILL')
    await serve.kill('SIGKILL')
    for (const { pid } of await allOf(dataDir)) process.kill(pid, 'SIGKILL')
    await until(async () => (await allOf(dataDir)).length === 0)
    const { pid, bury } = await zombie()
    for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
      const file = join(dataDir, 'postgres', name)
      await writeFile(file, (await readFile(file, 'utf8')).replace(/^\d+/, `${pid}`))
    }
    try {
      assert.match(await startAndStop(dataDir), 'removing a stale lock')
    } finally {
      bury()
    }
  }))

test.run()
