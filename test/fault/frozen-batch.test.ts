import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { onServer } from '../support/database.ts'
import { newLoop } from './support/loop.ts'
import type { Session } from './support/nodes.ts'
import { type Scene, TRACE, assertNoHarm, freeze, inScene, takeOver, thaw, write } from './support/pair.ts'
import { until } from '../support/until.ts'

const test = suite('a node that is frozen while it applies events')

const inBatch = `
  select from pg_stat_activity where pid = $1 and xact_start is not null and wait_event_type = 'Client'`

/** Stops the node at a moment when its session waits for the rest of a transaction. */
const freezeInBatch = async ({ url, first, leader }: Scene): Promise<Session> => {
  const frozen = await leader()
  const isCaught = async () => {
    freeze(first)
    const [once, twice] = [await onServer(url, inBatch, [frozen.pid]), await onServer(url, inBatch, [frozen.pid])]
    if (once.rows.length > 0 && twice.rows.length > 0) return true
    thaw(first)
    return false
  }
  await until(isCaught)
  return frozen
}

test(
  'loses nothing, and the other node goes on',
  inScene(async (scene) => {
    const { second, token } = scene
    assert.is((await second.call('PUT', TRACE, { token, body: {} })).status, 200)
    const stored: string[] = []
    const load = newLoop(
      async () => {
        const name = `load ${stored.length}`
        await write(second, token, name)
        stored.push(name)
      },
      () => 0,
    )
    load.start()
    await until(() => stored.length > 0)
    const frozen = await freezeInBatch(scene)
    const heir = await takeOver(scene, frozen, 'while it is frozen in a batch')
    thaw(scene.first)
    await load.stop()
    await assertNoHarm(scene, heir, [...stored, 'while it is frozen in a batch'])
  }),
)

test.run()
