import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newLiveSessions } from '../../../src/client/upload/live-sessions.ts'
import { type ClientWorld, newWorld } from '../support/client-world.ts'
import { answerLine, call, result, text, userLine, writeSession } from '../support/session-file.ts'

const test = suite<{ world: ClientWorld }>('a session that grows between runs')
test.before.each(async (context) => void (context.world = await newWorld()))
test.after.each(({ world }) => world.close())

const turn = (index: number) => [
  userLine(`u-${index}`, `prompt ${index}`),
  answerLine(`a-${index}`, `m-${index}`, [text(`answer ${index}`)]),
]
const beginning = Array.from({ length: 30 }, (_, index) => turn(index)).flat()

/** What one run sends, after lines were added. */
const sentAfter = (world: ClientWorld, file: string, ...lines: readonly string[]) => sentBy(world, {}, file, ...lines)

/** The same, maybe of a watch. */
const sentBy = async (
  world: ClientWorld,
  options: Parameters<ClientWorld['sync']>[0],
  file: string,
  ...lines: readonly string[]
) => {
  appendFileSync(file, lines.map((one) => `${one}\n`).join(''))
  world.server.requests.length = 0
  const { summary } = await world.sync(options)
  return { summary, sent: world.server.requests.map((request) => request.text).join('\n') }
}

test('added messages are sent, and an answer that grew is sent whole', async ({ world }) => {
  const file = writeSession(world.sessions, 's-1.jsonl', beginning)
  await world.sync()
  const grown = await sentAfter(world, file, answerLine('b-29', 'm-29', [text('and more')]), userLine('u-30', 'end'))
  assert.equal([grown.summary.new, grown.summary.updated], [1, 1])
  assert.match(grown.sent, /answer 29.*and more.*"u-30"/)
  assert.not.match(grown.sent, /prompt 2[0-9]/)
  const again = await sentAfter(world, file, userLine('u-31', 'once more'))
  assert.equal([again.summary.new, again.summary.updated], [1, 0])
})

test('a value that is recognised as a secret later is redacted in messages that were already sent', async ({
  world,
}) => {
  const value = 'q7Zr2LmX9vKp4TdW8sYb'
  const file = writeSession(world.sessions, 's-1.jsonl', [userLine('u-x', `take ${value}`), ...beginning])
  await world.sync()
  assert.match(world.server.requests.map((request) => request.text).join('\n'), new RegExp(value))
  const { sent } = await sentAfter(world, file, userLine('u-30', `API_TOKEN="${value}"`))
  assert.match(sent, /take \[redacted:/)
  assert.not.match(sent, new RegExp(value))
})

test('the result of an earlier call that reads an environment file is redacted', async ({ world }) => {
  const file = writeSession(world.sessions, 's-1.jsonl', [
    ...beginning,
    answerLine('a-30', 'm-30', [call('c-1', 'Read', { file_path: '/w/app/.env' })]),
  ])
  await world.sync()
  const value = 'plain-but-private-value-1'
  const { sent } = await sentAfter(world, file, userLine('u-30', [result('c-1', `DATABASE=${value}\n`)]))
  assert.match(sent, /c-1/)
  assert.not.match(sent, new RegExp(value))
})

for (const [who, options] of [
  ['a run', {}],
  ['a watch', { live: newLiveSessions() }],
] as const)
  test(`${who} notices an edit in place of an 8 MB file, of the same length, also if the file has grown meanwhile`, async ({
    world,
  }) => {
    const long = 'x'.repeat(40_000)
    const many = Array.from({ length: 200 }, (_, index) => userLine(`v-${index}`, `${long} ${index}`))
    const file = writeSession(world.sessions, 's-1.jsonl', many)
    await world.sync(options)
    const edit = (from: string, to: string) => writeFileSync(file, readFileSync(file, 'utf8').replace(from, to))
    edit('x 150"', 'Y 150"')
    const edited = await sentBy(world, options, file)
    assert.equal([edited.summary.new, edited.summary.updated], [0, 1])
    assert.match(edited.sent, 'Y 150')
    edit('x 151"', 'Y 151"')
    const grown = await sentBy(world, options, file, userLine('u-end', 'end'))
    assert.equal([grown.summary.new, grown.summary.updated], [1, 1])
    assert.match(grown.sent, 'Y 151')
    assert.equal((await sentBy(world, options, file)).summary.unchanged, 1)
  })

test.run()
