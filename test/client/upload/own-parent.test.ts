import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { codex } from '../../../src/client/agents/codex/index.ts'
import { pi } from '../../../src/client/agents/pi/index.ts'
import { type ClientWorld, newWorld } from '../support/client-world.ts'
import { meta, prompt } from '../support/codex-file.ts'
import { writeSession } from '../support/session-file.ts'

const test = suite<{ world: ClientWorld }>('a session that names itself as the one that it comes from')
test.before.each(async (context) => void (context.world = await newWorld()))
test.after.each(({ world }) => world.close())

const piLines = [
  {
    type: 'session',
    version: 3,
    id: 's-pi',
    cwd: '/w',
    timestamp: '2026-02-01T10:00:00Z',
    parentSession: '/x/1_s-pi.jsonl',
  },
  { type: 'message', id: 'm-1', parentId: null, message: { role: 'user', content: 'hello' } },
].map((line) => JSON.stringify(line))

test('is sent without it', async ({ world }) => {
  writeSession(world.sessions, '1_s-pi.jsonl', piLines)
  writeSession(world.sessions, 'rollout-1.jsonl', [meta('s-codex', { parent_thread_id: 's-codex' }), prompt('hello')])
  for (const agent of [pi, codex]) await world.sync({ agents: [{ ...agent, roots: () => [world.sessions] }] })
  const relations = world.server.traces.map(({ externalId, messages, fields }) => [
    externalId,
    messages.size,
    fields['parentExternalId'],
    fields['parentKind'],
  ])
  assert.equal(relations, [
    ['s-pi', 1, undefined, undefined],
    ['s-codex', 1, undefined, undefined],
  ])
})

test.run()
