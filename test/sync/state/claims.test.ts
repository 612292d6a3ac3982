import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { SourceBusy } from '../../../src/sync/state/claims.ts'
import { openSyncState, type SyncState } from '../../../src/sync/state/sync-state.ts'
import { tempFolder } from '../support/temp.ts'

type Context = { path: string; state: SyncState; remove: () => void }

const test = suite<Context>('the claim of a process to a source')
test.before.each((context) => {
  const { path, remove } = tempFolder()
  Object.assign(context, { path, remove, state: openSyncState({ folder: path, config: path }) })
})
test.after.each(({ state, remove }) => {
  state.close()
  remove()
})

const NO_PATIENCE = { waitMs: 0 }

const startClaimer = async (path: string, source: string) => {
  const child = fork(join(import.meta.dirname, 'claimer.ts'), [path, source])
  await once(child, 'message')
  return child
}

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

const work = async () => 'done'

test('a claim excludes other processes from one source, until its process is killed', async ({ path, state }) => {
  const other = await startClaimer(path, '/a')
  assert.instance(await failure(state.alone('/a', NO_PATIENCE, work)), SourceBusy)
  assert.is(await state.alone('/b', NO_PATIENCE, work), 'done')
  other.kill('SIGKILL')
  await once(other, 'exit')
  assert.is(await state.alone('/a', NO_PATIENCE, work), 'done')
})

test('a claim ends with its work, even if that fails, and includes nested work of the same process', async ({
  state,
}) => {
  assert.is(await state.alone('/a', NO_PATIENCE, () => state.alone('/a', NO_PATIENCE, work)), 'done')
  const error = new Error('no')
  assert.is(await failure(state.alone('/a', NO_PATIENCE, () => Promise.reject(error))), error)
  assert.is(await state.alone('/a', NO_PATIENCE, work), 'done')
})

test('waiting for another process’s claim ends when the run is interrupted', async ({ path, state }) => {
  const other = await startClaimer(path, '/a')
  const interrupted = new AbortController()
  const reason = new Error('interrupted')
  const onWait = () => interrupted.abort(reason)
  const waiting = state.alone('/a', { waitMs: 60_000, onWait, signal: interrupted.signal }, work)
  assert.is(await failure(waiting), reason)
  other.kill('SIGKILL')
})

test('claims leave no files, and remove the files of killed processes', async ({ path, state }) => {
  const other = await startClaimer(path, '/a')
  other.kill('SIGKILL')
  await once(other, 'exit')
  const locks = join(path, 'uploading')
  assert.is(readdirSync(locks).length, 1)
  writeFileSync(join(locks, 'another.lock'), '')
  await state.alone('/b', NO_PATIENCE, work)
  assert.is(readdirSync(locks).length, 1, 'its own')
  state.close()
  assert.not.ok(existsSync(locks))
})

test.run()
