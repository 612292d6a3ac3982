import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startPostgres } from '../../../src/eventstore/embedded/postgres.ts'
import {
  allOf,
  answers,
  inDataDir,
  inFolder,
  query,
  recordingLog,
  serveIn,
  serversOf,
  startAndStop,
} from './support.ts'
import { until } from '../../support/until.ts'

const test = suite('embedded postgres, stopped')

test('keeps trying to restart until it is stopped', () =>
  inDataDir(async (dataDir) => {
    const { log, lines } = recordingLog()
    const postgres = await startPostgres({ dataDir, log })
    const file = join(dataDir, 'postgres/postgresql.conf')
    const good = await readFile(file)
    const failures = () => lines.filter((line) => line.startsWith('PostgreSQL is down')).length
    await writeFile(file, 'no_such_setting = 1\n')
    process.kill(postgres.pid(), 'SIGKILL')
    await until(() => failures() >= 2)
    await writeFile(file, good)
    await until(() => answers(postgres.url))
    await writeFile(file, 'no_such_setting = 1\n')
    const before = failures()
    process.kill(postgres.pid(), 'SIGKILL')
    await until(() => failures() > before)
    await postgres.stop()
    assert.equal(await allOf(dataDir), [])
    await writeFile(file, good)
    await startAndStop(dataDir)
  }))

test('a stop does not wait for open transactions, and may be called twice', () =>
  inDataDir(async (dataDir) => {
    const { log } = recordingLog()
    const postgres = await startPostgres({ dataDir, log })
    const sleeper = query(postgres.url, 'begin; create table t (); select pg_sleep(600)').then(String, String)
    await until(
      async () => (await query(postgres.url, `select 1 from pg_stat_activity where query ~ 'sleep.600'`)).length > 0,
    )
    await Promise.all([postgres.stop('fast'), postgres.stop('immediate')])
    await postgres.stop()
    assert.match(await sleeper, /terminat|ECONNRESET/) // the second stop may be faster than the answer to the first
    assert.equal(await allOf(dataDir), [])
  }))

test('a stop ends even a server that no longer accepts connections', () =>
  inDataDir(async (dataDir) => {
    const { log } = recordingLog()
    const postgres = await startPostgres({ dataDir, log })
    process.kill(postgres.pid(), 'SIGSTOP')
    await postgres.stop('immediate')
    assert.equal(await allOf(dataDir), [])
  }))

test('a stop during the start leaves no orphaned process, at whatever step, and the next start works', () =>
  inFolder(async (dataDir) => {
    const names = () => readdir(dataDir)
    const moments = [
      () => true,
      async () => (await names()).some((name) => name.startsWith('postgres.new-')),
      async () => (await names()).includes('postgres'),
      async () => (await serversOf(dataDir)).length > 0,
    ]
    for (const moment of moments) {
      const stop = new AbortController()
      const { log } = recordingLog()
      const start = startPostgres({ dataDir, log, signal: stop.signal }).then(String, (error: Error) => error.name)
      await until(moment)
      stop.abort()
      assert.is(await start, 'AbortError')
      assert.equal(await allOf(dataDir), [])
      assert.not.ok((await names()).some((name) => name.startsWith('postgres.new-')))
    }
    await startAndStop(dataDir)
  }))

test('an initdb that was killed with its Tracebook leaves a folder that starts', () =>
  inFolder(async (dataDir) => {
    const serve = serveIn(dataDir)
    await until(async () => (await readdir(dataDir)).some((name) => name.startsWith('postgres.new-')))
    await serve.kill('SIGKILL', true)
    await startAndStop(dataDir)
  }))

test.run()
