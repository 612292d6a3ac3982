import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { lockDataDir, readRunningService } from '../../../src/eventstore/embedded/lock.ts'
import { inFolder } from './support.ts'

const test = suite('data folder lock')
const address = { url: 'http://127.0.0.1:1', databaseUrl: 'postgresql://somewhere' }
const refusalOf = (dataDir: string) => lockDataDir(dataDir).then(() => 'none', String)

/** Another process that tries to own the folder; `says` is 'mine' or the refusal. */
const owner = async (dataDir: string) => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'own.ts'), dataDir], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const [says] = await once(createInterface({ input: child.stdout }), 'line')
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  const leave = async () => {
    child.stdin.end()
    await exited
  }
  return { pid: child.pid!, says: String(says), kill, leave }
}

test('one process owns a folder, and a second one learns which', () =>
  inFolder(async (dataDir) => {
    const first = await owner(dataDir)
    assert.is(first.says, 'mine')
    assert.match(await refusalOf(dataDir), `${dataDir} is in use by process ${first.pid}`)
    assert.equal(await readRunningService(dataDir), { ...address, pid: first.pid })
    await first.leave()
    assert.is(await readRunningService(dataDir), undefined)
    await (await lockDataDir(dataDir)).release()
  }))

test('not even the owner gets it twice, and trying does not lose it', () =>
  inFolder(async (dataDir) => {
    const lock = await lockDataDir(dataDir)
    assert.match(await refusalOf(dataDir), `process ${process.pid}`)
    await lock.publish(address)
    assert.equal(await readRunningService(dataDir), { ...address, pid: process.pid })
    const second = await owner(dataDir)
    assert.match(second.says, `process ${process.pid}`)
    await lock.release()
    await lock.release()
    const third = await owner(dataDir)
    assert.is(third.says, 'mine')
    await third.leave()
  }))

test('the file of a killed owner is left behind, and stops nobody', () =>
  inFolder(async (dataDir) => {
    const first = await owner(dataDir)
    await first.kill()
    assert.ok((await readdir(dataDir)).includes('tracebook.json'))
    assert.is(await readRunningService(dataDir), undefined)
    const second = await owner(dataDir)
    assert.is(second.says, 'mine')
    await second.kill()
  }))

test('a process id that has been given to another program does not hold it', () =>
  inFolder(async (dataDir) => {
    await writeFile(join(dataDir, 'tracebook.json'), JSON.stringify({ pid: process.ppid, ...address }))
    assert.is(await readRunningService(dataDir), undefined)
    await (await lockDataDir(dataDir)).release()
  }))

test('of many processes that start at once exactly one gets it, also after a kill', () =>
  inFolder(async (dataDir) => {
    await (await owner(dataDir)).kill()
    const all = await Promise.all(Array.from({ length: 6 }, () => owner(dataDir)))
    const [winner, ...others] = all.filter(({ says }) => says === 'mine')
    assert.equal(others, [])
    for (const { says } of all.filter((each) => each !== winner)) assert.match(says, `process ${winner!.pid}`)
    await winner!.leave()
  }))

test('only the owner may read its files', () =>
  inFolder(async (folder) => {
    const dataDir = join(folder, 'new/data')
    const lock = await lockDataDir(dataDir)
    await lock.publish(address)
    assert.equal((await readdir(dataDir)).sort(), ['tracebook.json', 'tracebook.lock'])
    for (const name of await readdir(dataDir)) assert.is((await stat(join(dataDir, name))).mode & 0o777, 0o600)
    await lock.release()
    assert.equal(await readdir(dataDir), ['tracebook.lock'])
  }))

test('nobody counts as running before the address is known, or if the file is damaged', () =>
  inFolder(async (dataDir) => {
    assert.is(await readRunningService(dataDir), undefined)
    const lock = await lockDataDir(dataDir)
    assert.is(await readRunningService(dataDir), undefined)
    await writeFile(join(dataDir, 'tracebook.json'), '{"pid":')
    assert.is(await readRunningService(dataDir), undefined)
    await lock.release()
  }))

test.run()
