import * as assert from 'uvu/assert'
import { check, restore, said, tamperingSuite, testEachWay } from './tampering.ts'
import { newWays, swap } from './ways.ts'

const test = tamperingSuite('proof/verify: tampering')

testEachWay(test)

test('swapping two events in their stream, and in the leaves, is found, though all hashes match', async (scene) => {
  const { client } = scene
  const { event } = newWays(client, 1)
  const a = await event(`type = 'MessageAdded' and stream like 'many-%'`)
  const b = await event(`stream = '${a.stream}' and id <> '${a.id}'`)
  await swap(client, 'revision', a, b)
  for (const [id, revision] of [
    [a.id, b.revision],
    [b.id, a.revision],
  ] as const)
    await client.query('update tracebook.leaves set revision = $2 where event_id = $1', [id, revision])
  const found = await check(scene)
  await restore(client)
  assert.ok(
    found.some(({ kind }) => kind === 'reordered'),
    said(found),
  )
})

test('nothing is found once everything was put back', async (scene) => assert.equal(await check(scene), []))

test.run()
