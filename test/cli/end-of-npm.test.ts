import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readRunningService } from '../../src/eventstore/embedded/lock.ts'
import { stateDir } from '../../src/client/config.ts'
import { runningWatcher } from '../../src/client/watch/watch-lock.ts'
import { start } from '../commands/support/processes.ts'
import { inOwnWorld } from '../commands/support/world.ts'
import { allOf, inFolder, isAlive } from '../eventstore/embedded/support.ts'
import { giveCluster } from '../support/cluster.ts'
import { until } from '../support/until.ts'

const test = suite('the end of npm')
const root = join(import.meta.dirname, '..', '..')
const npm = ['npm', '--prefix', root, 'exec', '-c'] as const
const command = `${process.execPath} ${join(root, 'src', 'main.ts')}`

const serving = (folder: string) => ({
  DATA_DIR: join(folder, 'data'),
  HOST: '127.0.0.1',
  PORT: '0',
  SUMMARY_PROVIDER: 'none',
  HOME: folder,
})
const runningIn = (folder: string) => until(() => readRunningService(join(folder, 'data')).catch(() => undefined))

for (const signal of ['SIGTERM', 'SIGKILL'] as const)
  test(`a service that npx has started ends after a ${signal} to npx alone`, () =>
    inFolder(async (folder) => {
      await giveCluster(join(folder, 'data'))
      // The shell does not become the service, and lives on when npx is killed.
      const { child, ended } = start([`${command} serve; true`], serving(folder), npm)
      const { pid } = await runningIn(folder)
      child.kill(signal)
      await until(async () => !(await isAlive(pid)))
      assert.equal(await allOf(join(folder, 'data')), [])
      const messages = (await ended).out
        .split('\n')
        .slice(0, -1)
        .map((line) => (JSON.parse(line) as { msg: string }).msg)
      assert.ok(messages.includes('stopping'))
      assert.is(messages.at(-1), 'stopped')
    }))

test('a watch that npx has started ends after a SIGKILL to npx alone', () =>
  inOwnWorld(async ({ user, url }) => {
    const { child, ended } = start([`${command} sync --watch; true`], user.variables, npm)
    const { pid } = (await until(() =>
      runningWatcher({ stateFolder: stateDir(user.variables), config: user.config, server: url }),
    ))!
    child.kill('SIGKILL')
    await until(async () => !(await isAlive(pid)))
    await ended
  }))

test('a service that a script of npm leaves in the background goes on after npm', () =>
  inFolder(async (folder) => {
    await giveCluster(join(folder, 'data'))
    const { ended } = start([`nohup ${command} serve > ${folder}/log 2>&1 &`], serving(folder), npm)
    assert.is((await ended).how, 0)
    const { pid } = await runningIn(folder)
    assert.ok(await isAlive(pid))
    process.kill(pid, 'SIGTERM')
    await until(async () => !(await isAlive(pid)))
  }))

test.run()
