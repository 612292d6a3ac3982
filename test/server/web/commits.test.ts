import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newHashLine } from '../../../src/base/line-hashes.ts'
import type { OneAttributionKey } from '../../../src/contract/attribution.ts'
import { known, messagesOf, someLines, textOf } from '../attribution/support/sessions.ts'
import { bodyOf, sharedWorld, signIn } from '../../support/world.ts'

const test = suite('web: commits')
const { node } = await sharedWorld()
const [ada, stranger] = [await signIn(node), await signIn(node)]
const slug = ada.namespaceSlug
const url = `/@${slug}/-/commits`

const { key } = await ada.send<OneAttributionKey>('GET', `/v1/namespaces/${slug}/attribution-key`)
const hashLine = newHashLine(Buffer.from(key.secret, 'base64'))

const AT = Date.now() - 3_600_000
const lines = someLines(3)
const { externalId, page } = await ada.newTrace(
  { projectPath: '/repo', title: 'A <b>title</b>' },
  messagesOf('m', AT, { tool: 'Write', args: { path: 'a.ts', content: textOf(lines) }, output: 'ok' }),
)
await known(node)
const record = (sha: string, added: readonly string[]) =>
  ada.send('POST', `/v1/namespaces/${slug}/commits`, {
    key: key.id,
    repository: 'https://codehost.example/team/app',
    commits: [{ sha, at: AT + 60_000, hunks: [{ path: 'a.ts', added: added.map((line) => hashLine(line) ?? '') }] }],
  })
const [one, other] = ['a'.repeat(40), 'b'.repeat(40)]
await record(one, [...lines, 'typed by hand, really'])
await record(other, ['typed by hand as well'])

test('members see the recorded commits, with sessions and lines by evidence', async () => {
  const body = await bodyOf(ada.open(url))
  for (const text of [
    one.slice(0, 12),
    other.slice(0, 12),
    'codehost.example/team/app',
    '3 lines of 4 by sessions',
    '1 unknown',
  ])
    assert.ok(body.includes(text), text)
  assert.ok(body.includes('A &lt;b&gt;title&lt;/b&gt;') && body.includes(page))
})

test('those of one session are shown alone, and its page leads there', async () => {
  const ofSession = `${url}?trace=${externalId}`
  const body = await bodyOf(ada.open(ofSession))
  assert.equal([body.includes(one.slice(0, 12)), body.includes(other.slice(0, 12))], [true, false])
  const shown = await bodyOf(ada.open(page))
  assert.ok(shown.includes(`href="${ofSession}"`) && shown.includes('in 1 commit'))
})

test('nobody else sees them', async () => {
  assert.is((await stranger.open(url)).statusCode, 403)
  await ada.send('PATCH', `/v1/traces/${externalId}`, { visibility: 'public' })
  assert.not.match(await bodyOf(stranger.open(page)), '/-/commits')
})

test.run()
