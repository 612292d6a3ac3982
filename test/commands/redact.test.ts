import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openDuties } from '../../src/client/state/duties.ts'
import { ask, tokenIn } from './support/api.ts'
import { runJson } from './support/documents.ts'
import { inWorld } from './support/world.ts'

const test = suite('tracebook redact, and rm --history')

/** An integer that a double cannot hold. */
const LARGE = '12345678901234567890'
const secret = 'ghp_R7fK2mQ9vXbT4nLsW8jYp3cZ6dHa1gE5uJo0'
let id = ''
test.before.each(() => void (id = randomUUID()))

test('secrets are replaced wherever they are, the rest stays as it is, and the past is erased', () =>
  inWorld(async ({ url, user, putTrace }) => {
    const token = tokenIn(user.config)
    const get = <T>(path: string) => ask<T>(url, `/v1/traces/${id}${path}`, { token })
    await putTrace(user, id, { title: `log in with ${secret}`, gitBranch: 'main' }, ['Hello', `it is ${secret}`])
    const args = { command: `curl -u ${secret}`, depth: (JSON as unknown as { rawJSON(text: string): object }).rawJSON(LARGE) } // prettier-ignore
    const parts = [{ type: 'text' }, { type: 'tool_call', content: { callId: 'c', toolName: 'Bash', args } }]
    const body = { role: 'assistant', textContent: `text ${secret}`, timestamp: 1_700_000_000_000, parts }
    await ask(url, `/v1/traces/${id}/messages/m`, { token, method: 'PUT', body })

    const refused = await user.run('redact', id)
    assert.is(refused.how, 2)
    assert.match(refused.err, '--yes')
    const done = await user.run('redact', id.slice(0, 8), '--yes')
    assert.is(done.how, 0, done.err)
    assert.match(done.out, `replaced secrets in 2 messages and 1 field of ${id}, and erased its past, `)
    assert.match(done.out, /^replaced .*, \d+ events\n$/)
    assert.not.match(done.out + done.err, secret)

    const { trace } = await get<{ trace: { title: string; gitBranch: string } }>('')
    assert.match(trace.title, /^log in with \[redacted:[a-z-]+\]$/)
    assert.is(trace.gitBranch, 'main')
    const shown = (await user.run('show', id, '--json')).out
    assert.not.match(shown, secret)
    assert.match(shown, `"depth":${LARGE}`)
    assert.match(shown, /"textContent":"text \[redacted:[a-z-]+\]"/)
    assert.match(shown, '"timestamp":1700000000000')
    const { events } = await get<{ events: { type: string }[] }>('/events')
    assert.equal(
      events.map(({ type }) => type),
      ['HistoryErased'],
    )
    const again = await user.run('redact', id, '--yes')
    assert.equal([again.how, again.err], [0, ''])
    assert.match(again.out, `nothing to replace in ${id}`)
  }))

test('a text that the user names is replaced, and --json reports it in documents', () =>
  inWorld(async ({ user, putTrace }) => {
    await putTrace(user, id, { title: 'Of Jane Doe' }, ['Jane Doe said', 'nothing', 'Jane Doe and Jane Doe'])
    const { documents } = await runJson(user, 'redact', id, '--text', 'Jane Doe', '--yes')
    assert.equal(
      documents.map(({ type }) => type),
      ['redaction', 'redaction', 'redaction', 'redaction', 'redacted'],
    )
    const { messages, fields, externalId } = documents.at(-1)!
    assert.equal([messages, fields, externalId], [2, 1, id])
    const shown = (await user.run('show', id, '--json')).out
    assert.not.match(shown, 'Jane')
    assert.match(shown, '[redacted:text] and [redacted:text]')
    assert.is((await user.run('redact', id, '--text', '', '--yes')).how, 2)
  }))

test('redact does first what an earlier command has left to erase', () =>
  inWorld(async ({ url, user, putTrace }) => {
    const token = tokenIn(user.config)
    await putTrace(user, id, { title: `log in with ${secret}` }, ['Hello'])
    const { trace } = await ask<{ trace: { namespace: { slug: string } } }>(url, `/v1/traces/${id}`, { token })
    await ask(url, `/v1/traces/${id}`, { token, method: 'PATCH', body: { title: 'log in with [redacted:github]' } })
    const duties = openDuties(user.config, url)
    await duties.add({ namespace: trace.namespace.slug, externalId: id, source: `trace ${id}`, hashes: [] })
    const done = await user.run('redact', id, '--yes')
    assert.equal([done.how, done.out.includes('nothing to replace')], [0, true])
    assert.match(done.err, 'the past of the trace, which had it, was erased')
    const { events } = await ask<{ events: { type: string }[] }>(url, `/v1/traces/${id}/events`, { token })
    assert.equal(
      events.map(({ type }) => type),
      ['HistoryErased'],
    )
    assert.equal(await duties.all(), [])
  }))

test('a text and a secret are replaced in whatever colours they are', () =>
  inWorld(async ({ user, putTrace }) => {
    const coloured = (text: string) => `\u001b[31m${text.slice(0, 4)}\u001b[1m${text.slice(4)}\u001b[0m`
    await putTrace(user, id, { title: 'Colours' }, [coloured('Jane Doe'), `TOKEN=${coloured(secret)}`])
    const all = [
      ['redact', id, '--text', 'Jane Doe', '--yes'],
      ['redact', id, '--yes'],
    ]
    for (const line of all) assert.is((await user.run(...line)).how, 0)
    const { out } = await user.run('show', id, '--json')
    assert.match(out, String.raw`"\u001b[31m[redacted:text]\u001b[0m"`)
    assert.match(out, String.raw`"TOKEN=\u001b[31m[redacted:secret-value]\u001b[0m"`)
  }))

test('rm --history erases the past of a trace and keeps its present', () =>
  inWorld(async ({ url, user, putTrace }) => {
    const token = tokenIn(user.config)
    await putTrace(user, id, { title: 'Before' }, ['Hello'])
    await ask(url, `/v1/traces/${id}`, { token, method: 'PATCH', body: { title: 'Now' } })
    assert.is((await user.run('rm', '--history', id)).how, 2)
    const { how, out } = await user.run('rm', '--history', id, '--yes')
    assert.equal([how, out.startsWith(`erased the past of ${id}, `)], [0, true], out)
    const shown = (await user.run('show', id)).out
    assert.match(shown, /^Now\n[^]*Hello/)
    const [document] = (await runJson(user, 'rm', '--history', id, '--yes')).documents
    assert.is(document!.type, 'erased')
  }))

test.run()
