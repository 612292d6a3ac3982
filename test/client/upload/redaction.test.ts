import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { commandName } from '../../../src/cli/command-name.ts'
import { ALLOWED_SECRETS } from '../../../src/client/redaction/options.ts'
import { hashOf } from '../../../src/client/redaction/session.ts'
import type { SyncEvent } from '../../../src/client/report/events.ts'
import { fill, forms, newRandom } from '../redaction/corpus.ts'
import { type ClientWorld, newWorld } from '../support/client-world.ts'
import { answerLine, call, line, result, text, userLine, writeSession } from '../support/session-file.ts'
import { runs } from '../../support/runs.ts'

const test = suite<{ world: ClientWorld }>('secrets in what is synced')
test.before.each(async (context) => void (context.world = await newWorld()))
test.after.each(({ world }) => world.close())

const secret = fill(newRandom(3), forms['github token']!)
const lines = [
  userLine('u-1', `log in with ${secret}`),
  answerLine('a-1', 'm-1', [call('c-1', 'Bash', { command: `git clone https://ada:${secret}@git.internal/x.git` })]),
  userLine('u-2', [result('c-1', `remote: ${secret} is not allowed`)]),
  line({ type: 'custom-title', customTitle: `Clone with ${secret}` }),
]
const sent = (world: ClientWorld) => world.server.requests.map(({ text }) => text).join('\n')

test('no request holds a secret, and the report of a redaction does not hold it either', async ({ world }) => {
  const file = writeSession(world.sessions, 's-1.jsonl', lines)
  const { summary, events } = await world.sync()
  assert.not.match(sent(world), /ghp_/)
  assert.match(sent(world), /log in with \[redacted:github\]/)
  assert.not.match(JSON.stringify(events), /ghp_/)
  assert.equal([summary.synced, summary.redacted, summary.exitCode], [1, 4, 0])
  const places = events.flatMap((event) =>
    event.type === 'redaction' ? `${event.externalId ?? 'trace'} ${event.where}` : [],
  )
  assert.equal(places, ['trace title', 'u-1 parts/0/text', 'm-1 parts/0/args/command', 'u-2 parts/0/output'])
  const [notice] = events.filter(({ type }) => type === 'notice')
  assert.match(
    `${notice?.type === 'notice' && notice.message}`,
    /^secrets taken out: github in title \([0-9a-f]{12}\); .*; and 1 more$/,
  )
  assert.is(notice?.type === 'notice' && notice.file, file)
  assert.equal(await world.writesOf(), [])
})

test('a secret that is allowed by its hash is sent, also if it was redacted before', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', lines)
  const { events } = await world.sync()
  const [found] = events.flatMap((event) => (event.type === 'redaction' ? [event] : []))
  writeFileSync(join(world.config, ALLOWED_SECRETS), `# of the manual\n${found!.hash.slice(0, 12)} # ada\n`)
  const { summary } = await world.sync()
  assert.is(summary.redacted, 0)
  assert.match(sent(world), /log in with ghp_/)
})

test('an invalid list of allowed secrets is rejected before anything is sent', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', lines)
  writeFileSync(join(world.config, ALLOWED_SECRETS), 'ghp_oops\n')
  const refused = await world.sync().catch((error: Error) => error)
  assert.match((refused as Error).message, /allowed-secrets: expected a hash .* got "ghp_oops"/)
  assert.equal(world.server.writes(), [])
})

/** They look random, but a name has to tell that they are secrets. */
const [key, other] = ['q7Zr4TnW2kXvB9mLpC3sJd8F', 'Hd83kQz1VbN6wYt5RfXg0LcP']
const bare = userLine('u-1', `it is ${key}`)
const telling = userLine('u-2', `API_KEY=${key}`)
const answer = (...texts: string[]) => texts.map((each, i) => answerLine(`a-${i}`, 'm-1', [text(each)]))
const erased = ({ server }: { server: { writes(): readonly string[] } }) =>
  server.writes().filter((write) => write === 'POST /v1/traces/s-1/history/erase').length
const toldOf = (events: readonly SyncEvent[]) =>
  events.flatMap((event) =>
    (event.type === 'problem' || event.type === 'notice') && event.message.includes('had been sent before')
      ? [event]
      : [],
  )

test('a secret sent before a later message revealed it is reported once, and the trace’s history is erased', async ({
  world,
}) => {
  writeSession(world.sessions, 's-1.jsonl', [bare])
  assert.is((await world.sync()).summary.exitCode, 0)
  assert.match(sent(world), key)
  const file = writeSession(world.sessions, 's-1.jsonl', [bare, telling])
  for (const dryRun of [true, false]) {
    const { summary, events } = await world.sync({ dryRun })
    assert.equal([summary.redacted, summary.exposed, summary.exitCode], [1, 0, 0])
    const [told, ...more] = toldOf(events)
    assert.equal([told!.file, told!.externalId, more], [file, 's-1', []])
    assert.match(told!.message, /^1 secret \([0-9a-f]{12}\) had been sent before/)
    const done = dryRun ? 'which has it, would be erased' : 'it was taken out, and the past of the trace erased'
    assert.ok(told!.message.endsWith(done), told!.message)
    assert.is(erased(world), dryRun ? 0 : 1)
    assert.not.match(JSON.stringify(events), key)
  }
  writeSession(world.sessions, 's-1.jsonl', [bare, telling, userLine('u-3', `again ${key}`)])
  const { summary, events } = await world.sync()
  assert.equal([summary.messages, summary.exposed, summary.exitCode, toldOf(events)], [1, 0, 0, []])
  assert.is(erased(world), 1)
})

test('if the history cannot be erased, the run exits with 1 and says how to erase it', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', [bare])
  await world.sync()
  writeSession(world.sessions, 's-1.jsonl', [bare, telling])
  const no = { status: 403, body: { ok: false, error: { code: 'forbidden', message: 'Forbidden' } } }
  world.server.fault = ({ path }) => (path.endsWith('/history/erase') ? no : undefined)
  const { summary, events } = await world.sync()
  assert.equal([summary.redacted, summary.exposed, summary.exitCode], [1, 1, 1])
  const [told] = toldOf(events)
  assert.is(told!.type, 'problem')
  assert.match(told!.message, `"${commandName} rm --history s-1" erases it (`)
})

test('a secret that is known before it is sent is not reported, nor one that is added to a message', async ({
  world,
}) => {
  writeSession(world.sessions, 's-1.jsonl', [bare, telling, ...answer('well')])
  assert.is((await world.sync()).summary.exitCode, 0)
  writeSession(world.sessions, 's-1.jsonl', [bare, telling, ...answer('well', `so ${key}`, `TOKEN=${other}`)])
  const { summary, events } = await world.sync()
  assert.equal([summary.updated, summary.redacted, summary.exitCode, toldOf(events)], [1, 1, 0, []])
})

test('a secret sent in an answer is reported when the same answer later reveals it', async ({ world }) => {
  for (const [id, said] of [
    ['s-1', [`it is ${other}`]],
    ['s-2', [`it is ${other}`, `and ${secret}`]],
  ] as const) {
    const write = (...texts: string[]) =>
      writeSession(
        world.sessions,
        `${id}.jsonl`,
        [...answer(...texts), telling].map((each) => each.replace('"s-1"', `"${id}"`)),
      )
    write(...said)
    await world.sync()
    write(...said, `TOKEN=${other}`)
    const { summary, events } = await world.sync()
    assert.equal([summary.exposed, toldOf(events).length], [0, 1])
    assert.match(toldOf(events)[0]!.message, new RegExp(`^1 secret \\(${hashOf(other).slice(0, 12)}\\)`))
  }
})

test('a secret sent in the title of a trace is reported too', async ({ world }) => {
  const titled = line({ type: 'custom-title', customTitle: `Use ${key}` })
  writeSession(world.sessions, 's-1.jsonl', [userLine('u-1', 'hello'), titled])
  await world.sync()
  writeSession(world.sessions, 's-1.jsonl', [userLine('u-1', 'hello'), titled, telling])
  assert.is(toldOf((await world.sync()).events).length, 1)
})

test('a secret that was sent is also reported with --force, but not if the trace is created again', async ({
  world,
}) => {
  writeSession(world.sessions, 's-1.jsonl', [bare])
  await world.sync()
  writeSession(world.sessions, 's-1.jsonl', [bare, telling])
  world.server.traces.length = 0
  assert.equal(toldOf((await world.sync({ force: true })).events), [])
  writeSession(world.sessions, 's-2.jsonl', [bare.replace('s-1', 's-2')])
  await world.sync()
  writeSession(
    world.sessions,
    's-2.jsonl',
    [bare, telling].map((each) => each.replace('s-1', 's-2')),
  )
  assert.is(toldOf((await world.sync({ force: true })).events).length, 1)
})

test('for any session, exactly the secrets that were sent and are now found are reported', async ({ world }) => {
  const keys = [key, other, 'Tq5Wm8ZrB2yKs6NvJx4HdG7c']
  let count = 0
  const words = fc.record({ key: fc.nat(2), isTelling: fc.boolean(), isAnswer: fc.boolean() })
  const lineOf = ({ key, isTelling, isAnswer }: { key: number; isTelling: boolean; isAnswer: boolean }, i: number) => {
    const said = `${isTelling ? 'API_KEY=' : 'it is '}${keys[key]}`
    return isAnswer ? answerLine(`l-${i}`, 'm-1', [text(said)]) : userLine(`l-${i}`, said)
  }
  const law = fc.asyncProperty(fc.array(words, { minLength: 1, maxLength: 7 }), fc.nat(7), async (all, cut) => {
    const id = `s-${++count}`
    const write = (some: typeof all) =>
      writeSession(
        world.sessions,
        `${id}.jsonl`,
        some.map(lineOf).map((each) => each.replace('"s-1"', `"${id}"`)),
      )
    write(all.slice(0, cut))
    world.server.requests.length = 0
    await world.sync()
    const before = sent(world)
    write(all)
    const { events } = await world.sync()
    const isFound = (k: number) => all.some(({ key, isTelling }) => key === k && isTelling)
    const expected = keys.filter((key, k) => before.includes(key) && isFound(k)).map((key) => hashOf(key).slice(0, 12))
    const told = toldOf(events).flatMap(({ message }) => message.match(/[0-9a-f]{12}(?=[,)])/g) ?? [])
    assert.equal(told.toSorted(), expected.toSorted())
  })
  await fc.assert(law, { numRuns: runs(15) })
})

test.run()
