import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ALLOWED_SECRETS } from '../../../src/sync/redaction/options.ts'
import { kinds, newRandom } from '../redaction/corpus.ts'
import { type ClientWorld, newWorld } from '../support/client-world.ts'
import { answerLine, call, line, result, userLine, writeSession } from '../support/session-file.ts'

const test = suite<{ world: ClientWorld }>('secrets in what is synced')
test.before.each(async (context) => void (context.world = await newWorld()))
test.after.each(({ world }) => world.close())

const secret = kinds['github token']!(newRandom(3))
const lines = [
  userLine('u-1', `log in with ${secret}`),
  answerLine('a-1', 'm-1', [call('c-1', 'Bash', { command: `git clone https://ada:${secret}@git.internal/x.git` })]),
  userLine('u-2', [result('c-1', `remote: ${secret} is not allowed`)]),
  line({ type: 'custom-title', customTitle: `Clone with ${secret}` }),
]
const sent = (world: ClientWorld) => world.server.requests.map(({ text }) => text).join('\n')

test('no request holds one, and what was taken out is told without it', async ({ world }) => {
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

test('one that is allowed by its hash is sent, also where it was taken out before', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', lines)
  const { events } = await world.sync()
  const [found] = events.flatMap((event) => (event.type === 'redaction' ? [event] : []))
  writeFileSync(join(world.config, ALLOWED_SECRETS), `# of the manual\n${found!.hash.slice(0, 12)} # ada\n`)
  const { summary } = await world.sync()
  assert.is(summary.redacted, 0)
  assert.match(sent(world), /log in with ghp_/)
})

test('a list of allowed ones that cannot be used is refused before anything is sent', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', lines)
  writeFileSync(join(world.config, ALLOWED_SECRETS), 'ghp_oops\n')
  const refused = await world.sync().catch((error: Error) => error)
  assert.match((refused as Error).message, /^allowed-secrets: "ghp_oops" is no hash/)
  assert.equal(world.server.writes(), [])
})

test.run()
