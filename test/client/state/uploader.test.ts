import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { StateFailed } from '../../../src/client/state/state-file.ts'
import { newUploader } from '../../../src/client/state/uploader.ts'
import { tempFolder } from '../support/temp.ts'

type Context = { path: string; remove: () => void }

const test = suite<Context>('the only uploader of a machine')
test.before.each((context) => void Object.assign(context, tempFolder()))
test.after.each(({ remove }) => remove())

const SERVER = 'http://service.example'
const placeIn = (path: string, server = SERVER) => ({ stateFolder: join(path, 'data'), config: path, server })

const startOther = async (path: string) => {
  const child = fork(join(import.meta.dirname, '..', 'state', 'other-uploader.ts'), [join(path, 'data'), path, SERVER])
  await once(child, 'message')
  return child
}

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

const work = async () => 'done'

test('waits for another process that uploads to the same service, until that one ends, however it does', async ({
  path,
}) => {
  const other = await startOther(path)
  let waits = 0
  const onWait = () => {
    waits++
    other.kill('SIGKILL')
  }
  assert.is(await newUploader(placeIn(path, 'http://other.example'), { onWait })(work), 'done')
  assert.is(waits, 0)
  assert.is(await newUploader(placeIn(path), { onWait })(work), 'done')
  assert.is(waits, 1)
})

test('is one at a time in a process, too, and ends with its work, even if that fails', async ({ path }) => {
  const asUploader = newUploader(placeIn(path))
  const { promise, resolve } = Promise.withResolvers<string>()
  const done: string[] = []
  const first = asUploader(async () => void done.push(await promise))
  const second = newUploader(placeIn(path), { onWait: () => resolve('first') })(async () => void done.push('second'))
  await Promise.all([first, second])
  assert.equal(done, ['first', 'second'])
  const error = new Error('no')
  assert.is(await failure(asUploader(() => Promise.reject(error))), error)
  assert.is(await asUploader(work), 'done')
})

test('waits no more once its run is interrupted', async ({ path }) => {
  const other = await startOther(path)
  const interrupted = new AbortController()
  const reason = new Error('interrupted')
  const options = { onWait: () => interrupted.abort(reason), signal: interrupted.signal }
  assert.is(await failure(newUploader(placeIn(path), options)(work)), reason)
  other.kill('SIGKILL')
})

test('has a lock that only its owner can read; one that cannot be made is a failure of the state', async ({ path }) => {
  await newUploader(placeIn(path))(work)
  const folder = join(path, 'data', 'uploading')
  assert.is(statSync(folder).mode & 0o077, 0)
  assert.is(readdirSync(folder).length, 1)
  mkdirSync(join(path, 'full'))
  writeFileSync(join(path, 'full', 'uploading'), 'no folder')
  const unusable = newUploader({ ...placeIn(path), stateFolder: join(path, 'full') })
  assert.instance(await failure(unusable(work)), StateFailed)
})

test.run()
