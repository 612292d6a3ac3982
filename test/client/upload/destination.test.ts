import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Agent } from '../../../src/client/agents/agent.ts'
import { claudeCode } from '../../../src/client/agents/claude-code/index.ts'
import type { Destination, Origin } from '../../../src/client/upload/destination.ts'
import { type ClientWorld, newWorld } from '../support/client-world.ts'
import { userLine, writeSession } from '../support/session-file.ts'

type Context = { world: ClientWorld; folder: string; reads: string[]; agent: Agent }
const test = suite<Context>('where sessions go')

test.before.each(async (context) => {
  const world = await newWorld()
  const [folder, reads] = [join(world.home, '.claude', 'projects'), [] as string[]]
  mkdirSync(folder, { recursive: true })
  /** Claude Code, which tells what is read. */
  const agent: Agent = {
    ...claudeCode,
    sessions: async function* (path) {
      for await (const session of claudeCode.sessions(path))
        yield { ...session, read: (options) => (reads.push(session.source), session.read(options)) }
    },
  }
  Object.assign(context, { world, folder, reads, agent })
})
test.after.each(({ world }) => world.close())

const write = (folder: string, name: string, cwd: string) =>
  writeSession(folder, `${name}.jsonl`, [userLine(`u-${name}`, 'hello', { sessionId: name, cwd })])

const never =
  (usual: Destination) =>
  async ({ projectPath }: Origin) =>
    projectPath === '/w/secret' ? { notSent: 'its project says so' } : usual

test('a session that must not be sent is reported with the reason, and not read again for it', async (context) => {
  const { world, folder, reads, agent } = context
  const path = write(folder, 's-1', '/w/secret')
  write(folder, 's-2', '/w/app')
  const first = await world.sync({ agents: [agent], destinations: never })
  assert.equal([first.summary.excluded, first.summary.synced, first.summary.exitCode], [1, 1, 0])
  assert.ok(
    first.events.some((event) => event.type === 'session' && event.file === path && /project/.test(event.why ?? '')),
  )
  assert.is(reads.length, 2)
  appendFileSync(path, `${userLine('u-2', 'more', { sessionId: 's-1' })}\n`)
  assert.is((await world.sync({ agents: [agent], destinations: never })).summary.excluded, 1)
  assert.is(reads.length, 2)
  assert.equal(
    world.server.traces.map(({ externalId }) => externalId),
    ['s-2'],
  )
  assert.is((await world.sync({ agents: [agent] })).summary.new, 2)
})

test('the destination is chosen by project, and by session id if the session was read, also for unchanged sessions', async (context) => {
  const { world, folder, reads, agent } = context
  write(folder, 's-1', '/w/app')
  const asked: Origin[] = []
  const destinations = (usual: Destination) => async (origin: Origin) => (asked.push(origin), usual)
  await world.sync({ agents: [agent], destinations })
  const source = join(folder, 's-1.jsonl')
  const origin = { source, files: [source], agentId: 'claude-code', projectPath: '/w/app' }
  await world.sync({ agents: [agent], destinations })
  assert.equal(asked, [{ ...origin, sessionId: 's-1', folders: [] }, origin])
  assert.is(reads.length, 1)
})

test('if choosing the destination fails, only that session fails', async ({ world, folder, agent }) => {
  write(folder, 's-1', '/w/broken')
  write(folder, 's-2', '/w/app')
  const destinations =
    (usual: Destination) =>
    async ({ projectPath }: Origin) => {
      if (projectPath === '/w/broken') throw new Error('.tracebook.json cannot be read')
      return usual
    }
  const { summary, events } = await world.sync({ agents: [agent], destinations })
  assert.equal([summary.failed, summary.synced], [1, 1])
  assert.match(JSON.stringify(events), /tracebook.json cannot be read/)
})

test.run()
