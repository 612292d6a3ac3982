import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Caller, callers, openTeam } from '../../access/team.ts'
import { elementsOf, textOf } from '../../transcript/support/elements.ts'

const test = suite('web: insights')
const { team } = await openTeam(test)

const HOUR_MS = 3_600_000
const url = `/@${team.slug}/-/insights`

const record = async (caller: 'member' | 'creator' | 'admin', costUsd: number) => {
  const { send } = team.as(caller, 'here')
  await send('PUT', `/v1/traces/of-${caller}?namespace=${team.slug}`, {
    agentId: 'opencode',
    title: `by ${caller}`,
    projectName: `project of ${caller}`,
  })
  await send('POST', `/v1/traces/of-${caller}/messages/batch?namespace=${team.slug}`, {
    messages: [
      {
        externalId: 'm',
        role: 'assistant',
        timestamp: Date.now() - HOUR_MS,
        model: 'my-model',
        usage: { inputTokens: 10, outputTokens: 5, costUsd },
        parts: [
          { type: 'tool_call', content: { callId: 'c', toolName: 'Bash', args: {} } },
          { type: 'tool_result', content: { callId: 'c', toolName: 'Bash', output: 'no', status: 'error' } },
        ],
      },
    ],
  })
}
await record('member', 1.25)
await record('creator', 20.5)
await record('admin', 300.75)

const open = (caller: Caller, path = url) => team.as(caller, 'elsewhere').open(path)

/** The words of the section with a heading. */
const wordsUnder = (body: string, heading: string): string => {
  const section = elementsOf(body).find((one) => one.tagName === 'section' && textOf(one).startsWith(heading))
  assert.ok(section, heading)
  return textOf(section).replaceAll(/\s+/g, ' ')
}

test('members see what all sessions of their namespace have used and cost', async () => {
  for (const caller of ['member', 'creator', 'admin'] as const) {
    const { statusCode, body } = await open(caller)
    assert.is(statusCode, 200, caller)
    for (const text of [
      '$322.50',
      'as the agents recorded it',
      'by member',
      'by creator',
      'by admin',
      'project of member',
      'my-model',
      'bash',
    ])
      assert.match(body, text)
    const [dearest] = elementsOf(body).filter(({ attrs }) =>
      attrs.some(({ name, value }) => name === 'class' && value === 'name'),
    )
    assert.is(textOf(dearest!), 'by admin')
  }
})

test('members see how many calls of a tool have failed', async () => {
  const words = wordsUnder((await open('member')).body, 'By tool')
  assert.match(words, 'Failed calls')
  assert.match(words, /bash ?3 ?3 ?3 ?$/)
})

test('figures of persons are shown to these persons and to admins', async () => {
  const admin = (await open('admin')).body
  assert.match(wordsUnder(admin, 'By person'), /\$300\.75.*\$20\.50.*\$1\.25/)
  for (const [caller, own, others] of [
    ['member', '$1.25', '$321.25'],
    ['creator', '$20.50', '$302.00'],
  ] as const) {
    const words = wordsUnder((await open(caller)).body, 'You and the others')
    assert.match(words, own)
    assert.match(words, `all others`)
    assert.match(words, others)
    for (const id of callers) if (id !== caller && id !== 'nobody') assert.not.match(words, team.userOf(id).slice(0, 8))
  }
})

test('who is no member sees nothing of a namespace, however they come', async () => {
  const statuses = { nobody: 401, revoked: 401, stranger: 403, former: 403 } as const
  for (const [caller, status] of Object.entries(statuses) as [keyof typeof statuses, number][])
    for (const path of [url, `${url}?days=365`, `${url}?days=nonsense`]) {
      const { statusCode, body, headers } = await open(caller, path)
      assert.is(statusCode, status, `${caller} ${path}`)
      assert.match(String(headers['content-type']), 'text/html')
      assert.not.match(body, /\$|my-model|project of|by (?:member|creator|admin)/)
    }
  for (const caller of ['stranger', 'former', 'nobody'] as const)
    assert.not.match((await open(caller, `/@${team.slug}`)).body, '/-/insights')
  assert.match((await open('member', `/@${team.slug}`)).body, `href="${url}"`)
})

test('a model whose price is not known is named, and what it cost is not shown as nothing', async () => {
  const stranger = team.as('stranger', 'elsewhere')
  await stranger.send('PUT', '/v1/traces/unpriced', { agentId: 'codex', title: 'unpriced' })
  const usage = { inputTokens: 1_000 }
  const messages = [
    { externalId: 'm', role: 'assistant', timestamp: Date.now(), model: 'a-model-of-mine', usage, parts: [] },
  ]
  await stranger.send('POST', '/v1/traces/unpriced/messages/batch', { messages })
  const { slug } = (await stranger.send<{ namespaces: { slug: string }[] }>('GET', '/v1/namespaces')).namespaces[0]!
  const { body } = await stranger.open(`/@${slug}/-/insights`)
  assert.match(body, 'No price is known for a-model-of-mine: their tokens are in no cost.')
  assert.match(body, '<dt>Cost</dt><dd>–')
  assert.not.match(body, '$')
})

test('a missing namespace answers 404', async () => {
  for (const path of ['/@no-such-place/-/insights', '/@not%20a%20slug/-/insights'])
    assert.is((await open('member', path)).statusCode, 404)
})

test('the days are those of the time zone that the browser has noted, or of UTC', async () => {
  for (const [cookie, zone] of [
    [undefined, 'UTC'],
    ['tz=Pacific%2FKiritimati', 'Pacific/Kiritimati'],
    ['tz=nowhere', 'UTC'],
    ['tz=%', 'UTC'],
  ] as const) {
    const { body } = await team.as('member', 'here').open(url, cookie === undefined ? {} : { cookie })
    assert.match(body, `days in ${zone}`)
  }
})

test.run()
