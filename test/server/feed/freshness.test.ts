import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freshDatabase } from '../../support/database.ts'
import { type App, openApp } from '../../support/open-app.ts'

const test = suite('feed/freshness')

const database = await freshDatabase()
const nodes = [await openApp(database.url), await openApp(database.url, { env: { ROLES: 'api' } })]
test.after(async () => {
  for (const node of nodes) await node.close()
  await database.drop()
})

type Shown = { readonly id: string; readonly externalId: string; readonly title?: string }

const feedOf = async ({ call }: App, limit = 1_000, token?: string): Promise<Shown[]> =>
  ((await call('GET', `/v1/feed?limit=${limit}`, { token })).data as { traces: Shown[] }).traces

const signIn = async ({ call }: App): Promise<string> => {
  const { data } = await call('POST', '/v1/session', { body: { deviceId: randomUUID() } })
  return (data as { session: { token: string } }).session.token
}

/** Changes a trace in all ways that the feed shows, and looks after each. */
const write = async (node: App, seed: number) => {
  const token = await signIn(node)
  await node.call('PUT', `/v1/traces/${randomUUID()}`, { token, body: {} }) // so that its own feed is never empty
  const externalId = randomUUID()
  const url = `/v1/traces/${externalId}`
  const titleShown = async (reader?: string) =>
    (await feedOf(node, 1_000, reader)).filter((one) => one.externalId === externalId).map(({ title }) => title)
  for (let i = 0; i < 12; i++) {
    const step = (i * 7 + seed) % 5
    const title = `${seed}/${i}`
    const body = { title, visibility: ['public', 'public', 'private', 'direct'][step] }
    const answer = await (step === 4 ? node.call('DELETE', url, { token }) : node.call('PUT', url, { token, body }))
    if (step !== 4) assert.is(answer.status, 200, JSON.stringify(answer))
    assert.equal(await titleShown(), step < 2 ? [title] : [], `everybody’s feed: ${title}, step ${step}`)
    assert.equal(await titleShown(token), step < 4 ? [title] : [], `the writer’s feed: ${title}, step ${step}`)
  }
}

test('under concurrent writes and reads, the feed shows what was answered', async () => {
  let isOver = false
  const readers = nodes.flatMap((node) =>
    [1, 10, 1_000].map(async (limit) => {
      while (!isOver) {
        assert.ok((await feedOf(node, limit)).length <= limit)
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
    const token = await signIn(node)
    await node.call('PUT', `/v1/traces/${randomUUID()}`, { token, body: { visibility: 'public' } })
    for (const name of ['Ann', 'Bob']) {
      await feedOf(node, 1)
      await node.call('PATCH', '/v1/user', { token, body: { displayName: name } })
      const [newest] = (await feedOf(node, 1)) as unknown as { author: { displayName: string } }[]
      assert.is(newest!.author.displayName, name)
    }
  }
})

test.run()
