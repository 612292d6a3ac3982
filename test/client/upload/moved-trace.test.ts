import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Machine } from '../support/machine.ts'
import { writeInProject } from '../support/moves.ts'
import { type RealService, startRealService } from '../support/real-service.ts'
import { userLine } from '../support/session-file.ts'
import { tokenOf } from '../support/stored.ts'

const test = suite<{ service: RealService }>('a session whose trace was moved to another namespace')
test.before(async (context) => void (context.service = await startRealService()))
test.after(({ service }) => service.close())

let teams = 0

/** A machine with a session that was uploaded, and a team of its user. */
const uploaded = async (service: RealService) => {
  const machine = await service.logIn()
  const written = writeInProject(machine)
  await written.sync()
  const token = await tokenOf(machine)
  const team = `team-${++teams}`
  const send = async (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => {
    const answer = await service.call(method, path, body ? { token, body } : { token })
    assert.is(answer.status, 200, JSON.stringify(answer.error))
    return answer.data as Record<string, never>
  }
  await send('POST', '/v1/namespaces', { slug: team, displayName: team })
  const { session } = (await send('GET', '/v1/session')) as unknown as { session: { namespaceSlug: string } }
  const home = session.namespaceSlug
  const path = `/v1/traces/${written.id}`
  const move = (from: string, to: string) => send('POST', `${path}/move?namespace=${from}`, { namespace: to })
  const status = async (slug: string) => (await service.call('GET', `${path}?namespace=${slug}`, { token })).status
  const textsIn = async (slug: string) => {
    const list = await send('GET', `${path}/messages?namespace=${slug}&includeParts=true`)
    const { messages } = list as unknown as { messages: { parts: { content: { text: string } }[] }[] }
    return messages.map(({ parts }) => parts[0]!.content.text)
  }
  return { machine, written, team, home, move, send, path, status, textsIn }
}

const grow = (file: string, id: string, text: string) =>
  appendFileSync(file, `${userLine(`u-${text}`, text, { sessionId: id })}\n`)

test('goes on there, which is said once; what is there is not sent again', async ({ service }) => {
  const { written, team, home, move, status, textsIn } = await uploaded(service)
  await move(home, team)
  grow(written.file, written.id, 'more')
  const first = await written.sync()
  assert.equal([first.summary.synced, first.summary.new, first.summary.updated, first.summary.exitCode], [1, 1, 0, 0])
  assert.match(JSON.stringify(first.events), `its trace was moved to the namespace ${team}: going on there`)
  assert.equal([await status(home), await textsIn(team)], [308, ['hello', 'more']])
  assert.equal((await written.sync()).summary.unchanged, 1)
  grow(written.file, written.id, 'and more')
  const before = service.requests.length
  const second = await written.sync()
  assert.is(second.summary.new, 1)
  assert.not.match(JSON.stringify(second.events), 'was moved')
  assert.not.match(JSON.stringify(service.requests.slice(before)), 'PUT')
  assert.equal(await textsIn(team), ['hello', 'more', 'and more'])
})

test('and back, and what the client has noted is lost', async ({ service }) => {
  const { machine, written, team, home, move, textsIn } = await uploaded(service)
  await move(home, team)
  grow(written.file, written.id, 'there')
  await written.sync()
  await move(team, home)
  grow(written.file, written.id, 'back')
  assert.is((await written.sync()).summary.new, 1)
  assert.equal(await textsIn(home), ['hello', 'there', 'back'])
  await move(home, team)
  rmSync(join(machine.config, 'data'), { recursive: true })
  grow(written.file, written.id, 'again')
  assert.equal([(await written.sync({ dryRun: true })).summary.deleted, (await written.sync()).summary.new], [0, 1])
  assert.equal(await textsIn(team), ['hello', 'there', 'back', 'again'])
})

test('in the middle of an upload loses nothing', async ({ service }) => {
  const { written, team, home, move, textsIn } = await uploaded(service)
  const texts = Array.from({ length: 450 }, (_, i) => `line ${i}`)
  for (const text of texts) grow(written.file, written.id, text)
  let batches = 0
  service.gate.pass = async ({ method, url }) => {
    if (method !== 'POST' || !url.includes('/messages/batch') || ++batches !== 2) return
    service.gate.pass = async () => {}
    await move(home, team)
  }
  const { summary } = await written.sync()
  assert.equal([summary.exitCode, batches], [0, 2])
  assert.equal(await textsIn(team), ['hello', ...texts])
})

test('to a namespace that the user has left is left alone, unless it is to be sent anew', async ({ service }) => {
  const { written, team, home, move, send, textsIn } = await uploaded(service)
  const other = await service.logIn()
  const { session } = (await service.call('GET', '/v1/session', { token: await tokenOf(other) })).data as {
    session: { userId: string }
  }
  const { invite } = (await send('POST', `/v1/namespaces/${team}/invites`, { role: 'admin' })) as unknown as {
    invite: { code: string }
  }
  await service.call('POST', `/v1/invites/${invite.code}/accept`, { token: await tokenOf(other) })
  await move(home, team)
  grow(written.file, written.id, 'more')
  await written.sync()
  const { userId } = ((await send('GET', '/v1/session')) as unknown as { session: { userId: string } }).session
  await send('DELETE', `/v1/namespaces/${team}/members/${userId}`)
  assert.ok(session.userId !== userId)
  grow(written.file, written.id, 'and more')
  const { summary, events } = await written.sync()
  assert.equal([summary.excluded, summary.failed, summary.exitCode], [1, 0, 0])
  assert.match(JSON.stringify(events), `its trace was moved to ${team}, and you are not in that namespace any more`)
  assert.is((await written.sync({ force: true })).summary.synced, 1)
  assert.equal(await textsIn(home), ['hello', 'more', 'and more'])
})

const deletedBy: Readonly<Record<string, (machine: Machine, sync: Machine['sync']) => Promise<unknown>>> = {
  'which the client has learnt': (_, sync) => sync(),
  'which the client has not learnt': async () => {},
}

for (const [when, learn] of Object.entries(deletedBy))
  test(`a session that was deleted, ${when}, is not sent to another namespace unless that is asked for`, async ({
    service,
  }) => {
    const { machine, written, team, home, send, path, status, textsIn } = await uploaded(service)
    await send('DELETE', `${path}?namespace=${home}`)
    grow(written.file, written.id, 'more')
    await learn(machine, written.sync)
    for (let times = 0; times < 2; times++) {
      const { summary, events } = await written.sync({ slug: team })
      assert.equal([summary.deleted, summary.exitCode], [1, 0])
      if (times === 0)
        assert.match(
          JSON.stringify(events),
          `its trace was deleted from the namespace ${home}: not sent to ${team} (--force sends it)`,
        )
    }
    assert.is(await status(team), 404)
    assert.is((await written.sync({ slug: team, force: true })).summary.synced, 1)
    assert.equal(await textsIn(team), ['hello', 'more'])
  })

test.run()
