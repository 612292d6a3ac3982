import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { App } from '../../support/open-app.ts'
import { type Caller, callerOf, openWorld, signIn } from '../../support/world.ts'

const test = suite('feed/freshness')

const { node: first, openNode } = await openWorld(test)
const nodes = [first, await openNode({ env: { ROLES: 'api' } })]

type Shown = { readonly id: string; readonly externalId: string; readonly title?: string }

const feedOf = async (reader: Caller, limit = 1_000): Promise<readonly Shown[]> =>
  (await reader.send<{ traces: Shown[] }>('GET', `/v1/feed?limit=${limit}`)).traces

/** Changes a trace in all ways that the feed shows, and looks after each. */
const write = async (node: App, seed: number) => {
  const writer = await signIn(node)
  await writer.newTrace() // so that its own feed is never empty
  const externalId = randomUUID()
  const url = `/v1/traces/${externalId}`
  const titleShown = async (reader: Caller = callerOf(node)) =>
    (await feedOf(reader)).filter((one) => one.externalId === externalId).map(({ title }) => title)
  for (let i = 0; i < 12; i++) {
    const step = (i * 7 + seed) % 5
    const title = `${seed}/${i}`
    const body = { title, visibility: ['public', 'public', 'private', 'direct'][step] }
    const answer = await (step === 4 ? writer.ask('DELETE', url) : writer.ask('PUT', url, body))
    if (step !== 4) assert.is(answer.status, 200, JSON.stringify(answer))
    assert.equal(await titleShown(), step < 2 ? [title] : [], `everybody’s feed: ${title}, step ${step}`)
    assert.equal(await titleShown(writer), step < 4 ? [title] : [], `the writer’s feed: ${title}, step ${step}`)
  }
}

test('under concurrent writes and reads, the feed shows what was answered', async () => {
  let isOver = false
  const readers = nodes.flatMap((node) =>
    [1, 10, 1_000].map(async (limit) => {
      while (!isOver) {
        assert.ok((await feedOf(callerOf(node), limit)).length <= limit)
        await new Promise(setImmediate) // an answer from memory takes no turn of the event loop
      }
    }),
  )
  const writers = nodes.flatMap((node, n) => Array.from({ length: 6 }, (_, i) => write(node, n * 10 + i)))
  await Promise.all(writers).finally(() => {
    isOver = true
  })
  await Promise.all(readers)
})

test('a renamed author and namespace are shown with their new names at once', async () => {
  for (const node of nodes) {
    const author = await signIn(node)
    await author.newTrace({ visibility: 'public' })
    for (const name of ['Ann', 'Bob']) {
      await feedOf(callerOf(node), 1)
      await author.send('PATCH', '/v1/user', { displayName: name })
      const [newest] = (await feedOf(callerOf(node), 1)) as unknown as { author: { displayName: string } }[]
      assert.is(newest!.author.displayName, name)
    }
  }
})

test.run()
