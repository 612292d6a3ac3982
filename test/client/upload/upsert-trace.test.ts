import { appendFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type ClientWorld, newWorld } from '../support/client-world.ts'
import { userLine, writeSession } from '../support/session-file.ts'

const test = suite<{ world: ClientWorld }>('where a session is stored')
test.before.each(async (context) => void (context.world = await newWorld()))
test.after.each(({ world }) => world.close())

const lines = [userLine('u-1', 'hello')]
const write = ({ sessions }: ClientWorld) => writeSession(sessions, 's-1.jsonl', lines)
const grow = (path: string, uuid: string) => appendFileSync(path, `${userLine(uuid, 'more')}\n`)
const visibilityOf = ({ server }: ClientWorld) => server.traces[0]?.fields['visibility']

/** A trace of this id that somebody else made, in the namespace of that name. */
const occupy = ({ server }: ClientWorld, externalId: string, slug: string, visibility = 'private'): void => {
  const { id } = server.addNamespace(slug, { stranger: 'admin' })
  const fields = { visibility }
  server.traces.push({ namespaceId: id, externalId, createdBy: 'stranger', fields, messages: new Map() })
}

for (const visibility of ['private', 'public'])
  test(`a session of whose id another user has a ${visibility} trace is stored in the own namespace all the same`, async ({
    world,
  }) => {
    occupy(world, 's-1', 'strangers', visibility)
    const path = write(world)
    const { summary } = await world.sync()
    assert.equal([summary.new, summary.exitCode], [1, 0])
    grow(path, 'u-2')
    assert.equal(await world.writesOf(), ['POST /v1/traces/s-1/messages/batch'])
    assert.equal(
      world.server.traces.map(({ externalId, messages }) => [externalId, messages.size]),
      [
        ['s-1', 0],
        ['s-1', 2],
      ],
    )
    assert.is((await world.sync({ force: true })).summary.exitCode, 0)
    assert.is(world.server.traces.length, 2)
  })

test('the session fails with a message if its trace was created by another member', async ({ world }) => {
  const { id } = world.server.addNamespace('team', { [world.user.userId]: 'member', other: 'member' })
  const trace = { namespaceId: id, externalId: 's-1', createdBy: 'other', fields: { visibility: 'private' } }
  world.server.traces.push({ ...trace, messages: new Map() })
  write(world)
  const { summary, events } = await world.sync({ slug: 'team' })
  assert.equal([summary.failed, summary.exitCode], [1, 1])
  assert.match(JSON.stringify(events), /another user uploaded this session to the namespace team/)
})

test('a user who is removed during a run sends nothing to another namespace', async ({ world }) => {
  const team = world.server.addNamespace('team', { [world.user.userId]: 'member', admin: 'admin' })
  const path = write(world)
  const { server } = world
  server.fault = ({ method }) => {
    if (method === 'PUT') server.namespaces.find(({ id }) => id === team.id)!.roles.delete(world.user.userId)
    return undefined
  }
  const first = await world.sync({ slug: 'team' })
  assert.equal([first.summary.failed, first.summary.exitCode, server.traces], [1, 1, []])
  assert.match(JSON.stringify(first.events), /you are no longer in @team/)

  server.fault = () => undefined
  server.namespaces.find(({ id }) => id === team.id)!.roles.set(world.user.userId, 'member')
  await world.sync({ slug: 'team' })
  await world.sync()
  grow(path, 'u-2')
  server.fault = ({ path: asked }) => {
    if (asked.endsWith('/batch')) server.namespaces.find(({ id }) => id === team.id)!.roles.delete(world.user.userId)
    return undefined
  }
  assert.is((await world.sync({ slug: 'team' })).summary.failed, 1)
  assert.equal(
    server.traces.map(({ messages }) => messages.size),
    [1, 1],
  )
})

test('a trace of the same id in another namespace of the user is left alone', async ({ world }) => {
  world.server.addNamespace('team', { [world.user.userId]: 'admin' })
  const path = write(world)
  await world.sync()
  const before = structuredClone(world.server.traces[0])
  await world.sync({ slug: 'team', visibility: 'public' })
  grow(path, 'u-2')
  await world.sync({ slug: 'team' })
  assert.equal(world.server.traces[0], before)
  assert.is(world.server.traces[1]?.messages.size, 2)
})

test('a new trace gets the visibility that was asked for', async ({ world }) => {
  write(world)
  await world.sync({ visibility: 'direct' })
  assert.is(visibilityOf(world), 'direct')
})

test('a trace that the user published stays public after later syncs', async ({ world }) => {
  const path = write(world)
  await world.sync()
  world.server.traces[0]!.fields['visibility'] = 'public'
  grow(path, 'u-2')
  await world.sync()
  appendFileSync(path, '{"type":"custom-title","customTitle":"T"}\n')
  await world.sync()
  await world.sync({ force: true })
  assert.is(visibilityOf(world), 'public')
  assert.is(world.server.traces[0]?.fields['title'], 'T')
})

test('--visibility changes a trace whose session has not changed, once', async ({ world }) => {
  write(world)
  await world.sync()
  assert.equal(await world.writesOf({ visibility: 'public', dryRun: true }), [])
  assert.equal(await world.writesOf({ visibility: 'public' }), ['PATCH /v1/traces/s-1'])
  assert.is(visibilityOf(world), 'public')
  assert.equal(await world.writesOf({ visibility: 'public' }), [])
})

test('--visibility that a trace has already is not sent with its changes', async ({ world }) => {
  const path = write(world)
  await world.sync({ visibility: 'public' })
  grow(path, 'u-2')
  assert.equal(await world.writesOf({ visibility: 'public' }), ['POST /v1/traces/s-1/messages/batch'])
})

test('a session that was deleted on the server is not uploaded again, except by --force', async ({ world }) => {
  const path = write(world)
  await world.sync()
  world.server.traces.length = 0
  world.server.deleted.add('s-1')
  grow(path, 'u-2')
  const { summary, events } = await world.sync()
  assert.equal([summary.deleted, summary.exitCode], [1, 0])
  assert.match(JSON.stringify(events), /deleted on the service: left alone/)
  assert.equal(world.server.traces, [])
  await world.sync({ force: true })
  assert.is(world.server.traces[0]?.messages.size, 2)
})

test.run()
