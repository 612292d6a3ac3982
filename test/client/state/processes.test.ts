import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openSyncState } from '../../../src/client/state/sync-state.ts'
import { tempFolder } from '../support/temp.ts'

const COUNT = 200
const writer = join(import.meta.dirname, 'writer.ts')

test('records that several processes write at once are all kept', async () => {
  const { path, remove } = tempFolder()
  const names = ['a', 'b', 'c', 'd']
  const codes = names.map(async (name) => {
    const child = spawn(process.execPath, [writer, join(path, 'data'), name, `${COUNT}`], { stdio: 'inherit' })
    return ((await once(child, 'exit')) as [number])[0]
  })
  assert.equal(await Promise.all(codes), [0, 0, 0, 0])
  const state = openSyncState({ folder: join(path, 'data'), config: path })
  const states = await state.of({ server: 'http://s', namespaceId: 'n', logId: 'log' })
  for (const name of names) {
    assert.is(states.read(`/${name}`)?.files.get(`/${name}`), 'complete')
    const noteOf = states.notes({ agentId: 'codex', sessionId: name })
    for (let i = 0; i < COUNT; i++) assert.equal([...noteOf(`m-${i}`)!.digest], [i])
  }
  state.close()
  remove()
})

test.run()
