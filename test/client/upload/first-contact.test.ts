import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Machine } from '../support/machine.ts'
import { type RealService, startRealService } from '../support/real-service.ts'
import { answerLine, call, result, text, userLine, writeSession } from '../support/session-file.ts'
import { storedOf, tokenOf } from '../support/stored.ts'

const test = suite<{ service: RealService }>('a second machine with a session of the same user')
test.before(async (context) => void (context.service = await startRealService()))
test.after(({ service }) => service.close())

let sessions = 0
const newId = () => `s-${++sessions}`

const prompt = (id: string) => userLine('u-1', 'hello', { sessionId: id })
const begun = (id: string) => answerLine('a-1', 'm-1', [text('I look')], { sessionId: id })
const called = (id: string) => answerLine('a-2', 'm-1', [call('t-1', 'Bash')], { sessionId: id })
const answered = (id: string) => userLine('u-2', [result('t-1', 'ok')], { sessionId: id })

const write = ({ sessions: folder }: Machine, id: string, lines: readonly string[]) =>
  writeSession(folder, `${id}.jsonl`, lines)

/** The types of the parts of each message that the service has of a session. */
const stored = async (machine: Machine, id: string) =>
  (await storedOf(machine, id)).map(({ externalId, parts }) =>
    [externalId, ...parts!.map(({ type }) => type)].join(' '),
  )

test('a second machine with an older copy removes no messages, so that the session stays unchanged for the first machine', async ({
  service,
}) => {
  const [first, id] = [await service.logIn(), newId()]
  write(first, id, [prompt(id), begun(id), called(id), answered(id)])
  await first.sync()
  const whole = ['u-1 text', 'm-1 text tool_call', 'u-2 tool_result']
  assert.equal(await stored(first, id), whole)

  const second = service.another(first)
  const file = write(second, id, [prompt(id), begun(id)])
  const { summary, events } = await second.sync()
  assert.equal([summary.unchanged, summary.messages], [1, 0])
  assert.match(JSON.stringify(events), /the service has more of 1 message than this file/)
  assert.equal(await stored(first, id), whole)
  assert.is((await first.sync()).summary.unchanged, 1)

  appendFileSync(file, `${called(id)}\n${answered(id)}\n${userLine('u-3', 'go on', { sessionId: id })}\n`)
  assert.is((await second.sync()).summary.new, 1)
  assert.equal(await stored(first, id), [...whole, 'u-3 text'])
})

test('a second machine with a later copy adds its new messages', async ({ service }) => {
  const [first, id] = [await service.logIn(), newId()]
  write(first, id, [prompt(id), begun(id)])
  await first.sync()
  const second = service.another(first)
  write(second, id, [prompt(id), begun(id), called(id), answered(id)])
  const { summary } = await second.sync()
  assert.equal([summary.synced, summary.new, summary.updated], [1, 1, 1])
  assert.equal(await stored(first, id), ['u-1 text', 'm-1 text tool_call', 'u-2 tool_result'])
})

test('a second machine does not send messages that the service has, and only fills in missing fields of the trace', async ({
  service,
}) => {
  const [first, id] = [await service.logIn(), newId()]
  write(first, id, [prompt(id), begun(id), JSON.stringify({ type: 'custom-title', customTitle: 'A later title' })])
  await first.sync()
  const second = service.another(first)
  write(second, id, [prompt(id), begun(id)])
  service.requests.length = 0
  assert.is((await second.sync({ dryRun: true })).summary.unchanged, 1)
  assert.is((await second.sync()).summary.unchanged, 1)
  assert.equal(service.writes(), [])
  assert.is((await second.sync()).summary.unchanged, 1)
})

test('a machine that has lost its state restores messages that an older client truncated', async ({ service }) => {
  const [first, id] = [await service.logIn(), newId()]
  write(first, id, [prompt(id), begun(id), called(id), answered(id)])
  await first.sync()
  const second = service.another(first)
  write(second, id, [prompt(id), begun(id)])
  await second.sync({ force: true })
  assert.equal((await stored(first, id))[1], 'm-1 text')
  rmSync(join(first.config, 'data'), { recursive: true })
  assert.is((await first.sync()).summary.updated, 1)
  assert.equal((await stored(first, id))[1], 'm-1 text tool_call')
})

test('a machine that has lost its state replaces what its session says otherwise now, also by less', async ({
  service,
}) => {
  const [machine, id] = [await service.logIn(), newId()]
  const says = (answer: string) =>
    write(machine, id, [prompt(id), answerLine('a-1', 'm-1', [text(answer)], { sessionId: id })])
  says('Caveat: what follows is not for you. I look')
  await machine.sync()
  says('I look')
  rmSync(join(machine.config, 'data'), { recursive: true })
  assert.is((await machine.sync()).summary.updated, 1)
  const [, answer] = await storedOf(machine, id)
  assert.equal(
    answer!.parts!.map(({ content }) => content),
    [{ text: 'I look' }],
  )
})

test('a second machine compares a long session page by page', async ({ service }) => {
  const [first, id] = [await service.logIn(), newId()]
  const lines = Array.from({ length: 450 }, (_, i) => [
    userLine(`u-${i}`, `prompt ${i}`, { sessionId: id }),
    answerLine(`a-${i}`, `m-${i}`, [text(`answer ${i}`)], { sessionId: id }),
  ]).flat()
  write(first, id, lines.slice(0, 700))
  await first.sync()
  const second = service.another(first)
  const changed = lines.map((line) =>
    line.replace('"answer 3"', '"ans"').replace('"answer 333"', '"answer 333, and more"'),
  )
  write(second, id, changed)
  const { summary } = await second.sync()
  assert.equal([summary.new, summary.updated], [200, 1])
})

const KEY = 'q7Zr4TnW2kXvB9mLpC3sJd8F'

test('a second machine whose copy still has a redacted secret does not restore it', async ({ service }) => {
  const [first, id] = [await service.logIn(), newId()]
  const curl = answerLine('a-1', 'm-1', [call('t-1', 'Bash', { command: `curl -H x:${KEY}` })], { sessionId: id })
  const older = [prompt(id), curl]
  const tells = userLine('u-2', `API_KEY=${KEY}`, { sessionId: id })
  write(first, id, [...older, answerLine('a-2', 'm-1', [text('done')], { sessionId: id }), tells])
  await first.sync()
  const second = service.another(first)
  write(second, id, older)
  assert.is((await second.sync()).summary.messages, 0)
  assert.equal(await stored(first, id), ['u-1 text', 'm-1 tool_call text', 'u-2 text'])
  assert.not.match(JSON.stringify(await storedOf(first, id)), KEY)
})

test('a second machine redacts a known secret in the title, and does not change any other title', async ({
  service,
}) => {
  const titleOf = async (machine: Machine, id: string) => {
    const headers = { authorization: `Bearer ${await tokenOf(machine)}` }
    const { data } = (await (await fetch(`${service.url}/v1/traces/${id}`, { headers })).json()) as {
      data: { trace: { title: string } }
    }
    return data.trace.title
  }
  const titled = (title: string) => JSON.stringify({ type: 'custom-title', customTitle: title })
  const [first, id] = [await service.logIn(), newId()]
  write(first, id, [prompt(id), titled(`Use ${KEY}`)])
  await first.sync()
  assert.is(await titleOf(first, id), `Use ${KEY}`)
  for (const title of ['Another one', `Use ${KEY}`]) {
    const other = service.another(first)
    write(other, id, [prompt(id), titled(title), userLine('u-2', `API_KEY=${KEY}`, { sessionId: id })])
    await other.sync()
    assert.is(await titleOf(first, id), title === 'Another one' ? `Use ${KEY}` : 'Use [redacted:secret-value]')
  }
})

test.run()
