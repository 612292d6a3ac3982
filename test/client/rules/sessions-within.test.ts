import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { answerLine, call, text, userLine, writeSession } from '../support/session-file.ts'
import { newRulesWorld, type RulesWorld } from './support/world.ts'

const test = suite<RulesWorld>('the rules of sub-agents within the file of a session')

test.before.each(async (context) => void Object.assign(context, await newRulesWorld()))
test.after.each(({ close }) => close())

test('one that is held is asked about by the next run, though its session was sent', async (world) => {
  const { git, repository, sessions, stored, sync } = world
  const cwd = repository('app')
  git(cwd, 'config', 'tracebook.visibility', 'public')
  const side = { cwd, isSidechain: true }
  writeSession(sessions, 's-1.jsonl', [
    userLine('u-1', 'review it', { cwd }),
    answerLine('a-1', 'm-1', [call('t-1', 'Task', { prompt: 'read a.ts' })], { cwd }),
    userLine('b-1', 'read a.ts', { ...side, parentUuid: null }),
    answerLine('b-2', 'm-b', [text('I read a.')], { ...side, parentUuid: 'b-1' }),
  ])
  await sync()
  assert.equal(stored(), {})
  assert.is((await sync({ answers: [true] })).summary.held, 1)
  assert.equal(stored(), { 's-1': 'user-1 public' })
  const { questions, summary } = await sync({ answers: [true] })
  assert.match(questions[0]!, /read a\.ts/)
  assert.equal([stored(), summary.exitCode], [{ 's-1': 'user-1 public', 's-1-agent-b-1': 'user-1 public' }, 0])
  assert.is((await sync()).summary.unchanged, 2)
  assert.is((await sync()).summary.unchanged, 1)
})

test.run()
