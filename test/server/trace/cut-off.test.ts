import pg from 'pg'
import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { onServer } from '../../support/database.ts'
import { eventStoreUrlOf } from '../../support/log-place.ts'
import type { App } from '../../support/open-app.ts'
import { type Person, openWorld, signIn } from '../../support/world.ts'
import { listen, openSlowReader } from '../../support/slow-reader.ts'
import { until } from '../../support/until.ts'

/** Two nodes of one service: what is written on the first takes readers of both their right to read. */
const test = suite('trace: a long list that is being read')

const DAY_MS = 24 * 60 * 60 * 1_000
let ahead = 0
const { database, node: first, openNode } = await openWorld(test)
const reasons: string[] = []
const logger = pino(
  { level: 'info' },
  { write: (line) => void reasons.push((JSON.parse(line) as { msg: string }).msg) },
)
const second = await openNode({ env: { ROLES: 'api' }, now: () => Date.now() + ahead, logger })
const ports = new Map<App, number>()
for (const node of [first, second]) ports.set(node, await listen(node))
/** A trace with messages of this many MiB in all, in the active namespace of a session. */
const newTrace = async (owner: Person, visibility: string, mebibytes = 10) => {
  const textContent = 'x'.repeat(mebibytes * 8 * 1_024)
  const messages = Array.from({ length: 128 }, (_, i) => ({ externalId: `${i}`, role: 'user', textContent }))
  const { url } = await owner.newTrace({ visibility }, messages)
  return { url, messages: `${url}/messages` }
}

/** An organisation with an admin and a member, both active in it. */
const newTeam = async () => {
  const [admin, member] = [await signIn(first), await signIn(first)]
  const { slug } = await admin.newTeam()
  await admin.admit(slug, member)
  for (const { send } of [admin, member]) await send('POST', '/v1/session/switch', { slug })
  return { slug, admin, member }
}

/** Summaries of about 24 KiB each: a title of NULs takes six characters for each. */
const newTraces = async (owner: Person, count: number) => {
  const title = '\0'.repeat(4_096)
  for (let i = 0; i < count; i += 20) await Promise.all(Array.from({ length: 20 }, () => owner.newTrace({ title })))
}

/** Lets a reader stop in the middle, does something, lets it go on, and sees that the answer does not come to its end. */
const assertCut = async (node: App, path: string, token: string | undefined, act: () => Promise<unknown>) => {
  const reader = await openSlowReader(ports.get(node)!, path, token)
  try {
    await act()
    const { text, isWhole } = await reader.rest()
    assert.ok(text.startsWith('{"ok":true,"data":{'))
    assert.not(isWhole)
    assert.throws(() => JSON.parse(text))
  } finally {
    reader.leave()
  }
}

for (const [name, node] of [
  ['the node that wrote', first],
  ['the other node', second],
] as const) {
  test(`is cut off when its trace is deleted, on ${name}`, async () => {
    const owner = await signIn(first)
    const { url, messages } = await newTrace(owner, 'public')
    await assertCut(node, messages, undefined, () => owner.send('DELETE', url))
  })

  test(`is cut off for callers who are not members when its trace is no longer public, on ${name}`, async () => {
    const [owner, stranger] = [await signIn(first), await signIn(first)]
    const { url, messages } = await newTrace(owner, 'public')
    for (const visibility of ['private', 'direct']) {
      for (const token of [undefined, stranger.token])
        await assertCut(node, messages, token, async () => {
          await owner.send('PUT', url, { visibility })
        }).then(() => owner.send('PUT', url, { visibility: 'public' }))
    }
    await owner.send('DELETE', url)
  })

  test(`is cut off for a caller who is no longer a member, on ${name}`, async () => {
    const { slug, admin, member } = await newTeam()
    const { messages } = await newTrace(admin, 'private')
    const remove = () => admin.send('DELETE', `/v1/namespaces/${slug}/members/${member.userId}`)
    await assertCut(node, messages, member.token, remove)
  })

  test(`is cut off when the reader's session is ended, on ${name}`, async () => {
    const owner = await signIn(first)
    const { messages } = await newTrace(owner, 'private')
    await assertCut(node, messages, owner.token, () => owner.send('DELETE', '/v1/session'))
  })

  test(`is cut off in the middle of a list of traces, on ${name}`, async () => {
    const { slug, admin, member } = await newTeam()
    await newTraces(admin, 300)
    const path = `/v1/namespaces/${slug}/traces`
    await assertCut(node, path, member.token, () =>
      admin.send('DELETE', `/v1/namespaces/${slug}/members/${member.userId}`),
    )
    await assertCut(node, path, admin.token, () => admin.send('DELETE', '/v1/session'))
  })
}

test('is cut off when the session expires', async () => {
  const owner = await signIn(first)
  const { messages } = await newTrace(owner, 'private')
  await assertCut(second, messages, owner.token, async () => {
    ahead = 91 * DAY_MS
  })
  ahead = 0
})

// The tables are those of a log in PostgreSQL.
if (!eventStoreUrlOf(database.url)) {
  test('is cut off by a node that cannot follow the log, when it finds the session ended', async () => {
    const owner = await signIn(first)
    const { messages } = await newTrace(owner, 'private')
    const blocker = new pg.Client({ connectionString: database.url })
    await blocker.connect()
    const from = reasons.length
    await assertCut(second, messages, owner.token, async () => {
      await blocker.query('begin; lock table log.appends in access exclusive mode')
      // As the projections of another node would do it, which still reach the log.
      const revoke = `update ${schemaOf(mainGroup)}.sessions set revoked_at = 1 where id = $1`
      await onServer(database.url, revoke, [owner.id])
    })
    await blocker.end()
    assert.match(reasons.slice(from).join(), 'its reader may not read it any more')
  })
}

/** Whether readers who keep their rights get their lists whole. A list that is cut off on a busy machine has another reason. */
const continues = async () => {
  const from = reasons.length
  const { slug, admin, member } = await newTeam()
  const { url, messages } = await newTrace(admin, 'public')
  const open = (token?: string) => openSlowReader(ports.get(second)!, messages, token)
  const readers = [await open(), await open(admin.token)]
  const insider = await open(admin.token)
  await admin.send('DELETE', `/v1/namespaces/${slug}/members/${member.userId}`)
  await member.send('DELETE', '/v1/session')
  const another = await newTrace(admin, 'public', 1)
  await admin.send('DELETE', another.url)
  await admin.send('PUT', url, { visibility: 'public', title: 'still public' })
  const lists = await Promise.all(readers.map((reader) => reader.rest()))
  await admin.send('PUT', url, { visibility: 'private' })
  lists.push(await insider.rest())
  for (const { text, isWhole } of lists) if (isWhole) assert.is(JSON.parse(text).data.messages.length, 128)
  const why = reasons.slice(from).join()
  assert.not.match(why, 'its reader may not read it any more')
  assert.ok(why.includes('an answer was broken off') || lists.every(({ isWhole }) => isWhole))
  return lists.every(({ isWhole }) => isWhole)
}

test('continues for callers who may still read it', async () => {
  await until(continues)
})

test.run()
