import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { TRACE, assertNoHarm, freeze, inScene, newReader, takeOver, thaw } from './support/pair.ts'

const test = suite('a node that is frozen while it leads the projections')

test(
  'is replaced by the other one, which reads all the time; woken up it stands by',
  inScene(async (scene) => {
    const { first, second, token, leader } = scene
    assert.is((await second.call('PUT', TRACE, { token, body: {} })).status, 200)
    const reader = newReader(second, token)
    reader.start()
    const frozen = await leader()
    freeze(first)
    const heir = await takeOver(scene, frozen, 'while it is frozen')
    await reader.stop()
    assert.equal(reader.wrong, [])
    thaw(first)
    await assertNoHarm(scene, heir, ['while it is frozen'])
  }),
)

test.run()
