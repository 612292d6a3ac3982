import { readdir, readFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readRunningService } from '../../src/eventstore/embedded/lock.ts'
import { allOf, inFolder, isAlive } from '../eventstore/embedded/support.ts'
import { until } from '../support/until.ts'
import { serveInVain, start, startService } from './support/processes.ts'
import { run } from './support/user.ts'
import { inOwnWorld } from './support/world.ts'

const test = suite('serve')

test('SIGTERM and SIGINT end it with 0, in time, and leave no process; a start goes on from there', () =>
  inFolder(async (folder) => {
    const dataDir = join(folder, 'data')
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const service = await startService(dataDir)
      // A stop that took 9 seconds would end with 1.
      const { how, out, err } = await service.end(signal)
      assert.is(how, 0)
      assert.match(
        err,
        new RegExp(
          `^\\nTracebook serves at ${service.url}\\n[^{]*\\n  npx --yes ${service.url}/client/tracebook-[^{]*\\.tgz sync\\n\\n$`,
        ),
      )
      for (const line of out.split('\n').slice(0, -1)) assert.type(JSON.parse(line).time, 'number')
      assert.equal(await allOf(dataDir), [])
      assert.not.ok(await isAlive(service.pid))
    }
  }))

test('`npm --silent start` hands a SIGTERM on: the service says that it stops, ends with 0, and no process is left', () =>
  inFolder(async (folder) => {
    const dataDir = join(folder, 'data')
    const variables = { DATA_DIR: dataDir, HOST: '127.0.0.1', PORT: '0', SUMMARY_PROVIDER: 'none', HOME: folder }
    const { child, ended } = start(['start'], variables, [
      'npm',
      '--silent',
      '--prefix',
      join(import.meta.dirname, '..', '..'),
    ])
    const { pid } = await until(() => readRunningService(dataDir).catch(() => undefined))
    child.kill('SIGTERM')
    const { how, out } = await ended
    assert.is(how, 0)
    const lines = out.split('\n').slice(0, -1)
    const said = lines.map((line) => JSON.parse(line) as { time: number; msg: string; reason?: string })
    for (const { time } of said) assert.type(time, 'number')
    assert.is(said.find(({ msg }) => msg === 'stopping')?.reason, 'SIGTERM')
    assert.is(said.at(-1)?.msg, 'stopped')
    assert.equal(await allOf(dataDir), [])
    assert.not.ok(await isAlive(pid))
  }))

test('a second start on the same DATA_DIR is refused, names the first and leaves it alone', () =>
  inFolder(async (folder) => {
    const dataDir = join(folder, 'data')
    const service = await startService(dataDir)
    if (process.platform === 'linux') {
      // Nothing else shows what the C library was told: to give large blocks back.
      const variables = await readFile(`/proc/${service.pid}/environ`, 'utf8')
      assert.ok(variables.split('\0').includes('MALLOC_MMAP_THRESHOLD_=1048576'))
    }
    const { how, out, err } = await serveInVain(dataDir)
    assert.equal([how, out], [1, ''])
    assert.match(err, new RegExp(`^tracebook: .* is in use by process ${service.pid}: .*\n$`))
    assert.ok((await fetch(`${service.url}/health/ready`)).ok)
    assert.is((await service.end('SIGTERM')).how, 0)
  }))

test("a profiler of Node's does not end it as it starts", () =>
  inFolder(async (folder) => {
    const options = `--cpu-prof --cpu-prof-dir=${folder} --cpu-prof-interval=50`
    const refused = { NODE_OPTIONS: options, ROLES: 'boss' } // its end without a service is enough
    const ends = await Promise.all([1, 2, 3, 4].map(() => serveInVain(folder, refused)))
    assert.equal(
      ends.map(({ how }) => how),
      [1, 1, 1, 1],
    )
    assert.is((await readdir(folder)).filter((name) => name.endsWith('.cpuprofile')).length, 4)
  }))

test('a busy port is said in one line, and nothing keeps running', () =>
  inFolder(async (folder) => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((listening) => other.once('listening', listening))
    const { port } = other.address() as AddressInfo
    const { how, err } = await serveInVain(join(folder, 'data'), { PORT: `${port}` })
    assert.is(how, 1)
    assert.match(err, new RegExp(`^tracebook: port ${port} of 127.0.0.1 is in use: .*\n$`))
    assert.equal(await allOf(join(folder, 'data')), [])
    other.close()
  }))

test('a variable that cannot be used is named, and nothing is started', () =>
  inFolder(async (folder) => {
    const { how, out, err } = await serveInVain(folder, { ROLES: 'api,boss' })
    assert.equal([how, out], [1, ''])
    assert.match(err, /^tracebook: the configuration cannot be used\n {2}ROLES.*\n$/)
  }))

test('a database that cannot be reached is said to be that of DATABASE_URL, without its password', () =>
  inFolder(async (folder) => {
    const url = 'postgres://ann:secret@127.0.0.1:1/x'
    for (const [given, reason] of [
      [url, 'ECONNREFUSED'],
      [`${url}?sslrootcert=${join(folder, 'none')}`, 'ENOENT'],
    ] as const) {
      const { how, out, err } = await serveInVain(folder, { DATABASE_URL: given })
      assert.equal([how, out], [1, ''])
      assert.match(err, new RegExp(`^tracebook: DATABASE_URL: the database cannot be reached: .*${reason}.*\\n$`))
      assert.not.match(err, 'secret')
    }
  }))

test('openapi prints what a running service gives', () =>
  inOwnWorld(async ({ url }) => {
    const printed = await run(['openapi'], {})
    assert.equal([printed.how, printed.err], [0, ''])
    assert.equal(JSON.parse(printed.out), await (await fetch(`${url}/openapi.json`)).json())
  }))

test.run()
