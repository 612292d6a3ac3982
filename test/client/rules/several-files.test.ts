import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { userLine, writeSession } from '../support/session-file.ts'
import { newRulesWorld, type RulesWorld } from './support/world.ts'

const test = suite<RulesWorld>('the rules of a session in several files')

test.before.each(async (context) => void Object.assign(context, await newRulesWorld()))
test.after.each(({ close }) => close())

const ID = '0f3a1c52-1111-4222-8333-444455556666'

/** Writes the part of a session that took place in a folder. */
const part = ({ sessions }: RulesWorld, second: number, project: string) => {
  const folder = join(sessions, `-part-${second}`)
  mkdirSync(folder, { recursive: true })
  const timestamp = new Date(Date.UTC(2026, 1, 1, 10, 0, second)).toISOString()
  const line = userLine(`u-${second}`, `prompt ${second}`, { cwd: project, sessionId: ID, timestamp })
  return writeSession(folder, `${ID}.jsonl`, [line])
}

const idsIn = ({ server }: RulesWorld) => server.traces.flatMap(({ messages }) => [...messages.keys()])

test('a session is left out if any of its files is', async (world) => {
  part(world, 1, '/w/app')
  const second = part(world, 2, '/w/app')
  world.write('config/tracebook.json', { exclude: [second] })
  const { summary } = await world.sync()
  assert.equal([idsIn(world), summary.excluded], [[], 1])
})

test('a session is never sent if the project of any of its files is not', async (world) => {
  const [app, secret] = [world.repository('app'), world.repository('secret')]
  world.write('secret/.tracebook.json', { never: true })
  part(world, 1, app)
  await world.sync()
  part(world, 2, secret)
  for (const _ of [1, 2]) assert.is((await world.sync()).summary.excluded, 1)
  assert.equal(idsIn(world), ['u-1'])
})

test('a session does not become public if the project of any of its files says that it must not', async (world) => {
  const { git, repository, server, stored, sync, write } = world
  const [app, closed] = [repository('app'), repository('closed')]
  git(app, 'config', 'tracebook.visibility', 'public')
  write('closed/.tracebook.json', { visibility: 'private' })
  part(world, 1, app)
  part(world, 2, closed)
  await sync({ yes: true })
  assert.equal([stored(), server.traces[0]?.messages.size], [{ [ID]: 'user-1 private' }, 2])
})

test.run()
