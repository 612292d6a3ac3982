import { lockDataDir } from '../../../src/eventstore/embedded/lock.ts'
import { startPostgres } from '../../../src/eventstore/embedded/postgres.ts'

const say = (what: object) => void process.stdout.write(`${JSON.stringify(what)}\n`)
const log = { info: () => {}, warn: () => {}, error: () => {} }
const dataDir = process.argv[2] ?? ''
const starting = new AbortController()
process.once('SIGTERM', () => starting.abort())

try {
  const lock = await lockDataDir(dataDir)
  const postgres = await startPostgres({ dataDir, log, signal: starting.signal })
  await lock.publish({ url: 'http://127.0.0.1:1', databaseUrl: postgres.url })
  process.once('SIGTERM', async () => {
    await postgres.stop()
    await lock.release()
  })
  say({ pid: postgres.pid(), url: postgres.url })
} catch (error) {
  say({ error: String(error) })
  process.exitCode = 1
}
