import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ask, tokenIn } from '../support/api.ts'
import type { User } from '../support/user.ts'
import { inOwnWorld } from '../support/world.ts'

const test = suite('tracebook audit show and diff')
/** An integer that a double cannot hold. */
const LARGE = '12345678901234567890'
const RED = '\u001b[31m'

const rawJSON = (text: string) => (JSON as unknown as { rawJSON(text: string): object }).rawJSON(text)

/** Writes a trace with messages, and returns its revision after each step. */
const written = async (url: string, user: User): Promise<number[]> => {
  const token = tokenIn(user.config)
  const put = (path: string, body: object) => ask(url, `/v1/traces/${path}`, { token, method: 'PUT', body })
  const revisions: number[] = []
  for (const [path, body] of [
    ['t', { title: 'first', projectName: `two\nlines ${RED}` }],
    ['t/messages/m', { role: 'user', parts: [{ type: 'text', content: { text: `hello ${RED}` } }] }],
    ['t', { title: `second ${RED}` }],
    ['t/messages/n', { role: 'assistant', parts: [call({ id: rawJSON(LARGE) })] }],
    ['t/messages/m', { role: 'user', model: 'some-model', parts: [{ type: 'text', content: { text: 'bye' } }] }],
  ] as const) {
    await put(path, body)
    const far = '9'.repeat(15)
    revisions.push((await ask<{ revision: number }>(url, `/v1/traces/t?at=${far}`, { token })).revision)
  }
  return revisions
}
const call = (args: object) => ({ type: 'tool_call', content: { callId: 'c', toolName: 'look', args } })

const withTrace = (work: (user: User, revisions: number[]) => Promise<unknown>) =>
  inOwnWorld(async ({ url, user }) => work(user, await written(url, user)))

const run = async (user: User, ...words: string[]) => {
  const { how, out, err } = await user.run('audit', ...words)
  assert.equal([how, err], [0, ''], err)
  assert.not.match(out, '\u001b')
  return out
}

const documentsIn = (out: string) => out.split('\n').filter(Boolean).map((line) => JSON.parse(line)) // prettier-ignore

test('a trace is shown as it was, with its messages of then', () =>
  withTrace(async (user, revisions) => {
    const [first, message, second, , last] = revisions.map(String)
    const then = await run(user, 'show', 't', '--revision', message!, '--messages')
    assert.match(then, new RegExp(`^revision {2,}${message}\\n`))
    assert.match(then, /\ntitle {2,}first\n/)
    assert.match(then, /\nprojectName {2,}two\n {13,}lines \\u001b\[31m\n/)
    assert.match(then, /\ncreatedAt {2,}\w{3} \d+, \d{4}, \d\d:\d\d\n/)
    assert.match(then, /\n\n\S+ user\n {2}hello \\u001b\[31m\n$/)
    const [trace, ...none] = documentsIn(await run(user, 'show', 't', '--revision', first!, '--messages', '--json'))
    assert.equal([trace.type, trace.revision, trace.trace.title, none], ['trace', Number(first), 'first', []])

    const now = await run(user, 'show', 't', '--json', '--messages')
    assert.match(now, `"args":{"id":${LARGE}}`)
    const [present, ...messages] = documentsIn(now)
    assert.equal([present.revision, present.trace.title], [Number(last), `second ${RED}`])
    assert.equal(
      messages.map(({ type, message }) => [type, message.externalId]),
      [
        ['message', 'm'],
        ['message', 'n'],
      ],
    )
    const log = documentsIn(await run(user, 'log', 't', '--json'))
    const { at } = log.find(({ revision }) => String(revision) === second)
    const [atThen] = documentsIn(await run(user, 'show', 't', '--at', String(at), '--json'))
    assert.ok(atThen.revision >= Number(second))

    for (const words of [
      ['--revision', '1', '--at', '2'],
      ['--revision', 'x'],
      ['--at', 'noon'],
    ])
      assert.is((await user.run('audit', 'show', 't', ...words)).how, 2, words.join(' '))
    const { how, err } = await user.run('audit', 'show', 't', '--revision', '999')
    assert.is(how, 2)
    assert.match(
      err,
      /The trace "t" did not exist at that revision or time\. To list its revisions, run: .* audit log t\n/,
    )
  }))

test('what changed between two revisions is told in words and as JSON', () =>
  withTrace(async (user, revisions) => {
    const [, message, second, , last] = revisions.map(String)
    assert.is(
      await run(user, 'diff', 't', '--from', message!, '--to', second!),
      `From revision ${message} to ${second}\n  changed title to "second \\u001b[31m"\n`,
    )
    const all = await run(user, 'diff', 't', '--from', message!)
    assert.match(all, /\n\nMessages added: 1\n {2}n\n\nMessages changed: 1\n {2}m\n(?: {4}.*\n)+$/)
    assert.match(all, '\n    added model: "some-model"\n')
    assert.match(all, /\n {4}changed part 0 to \{.*"bye"/)
    const [{ from, to, patch, messages }] = documentsIn(await run(user, 'diff', 't', '--from', message!, '--json'))
    assert.equal([from, to, messages.added, messages.updated[0].externalId], [+message!, +last!, ['n'], 'm'])
    assert.equal(patch, [{ op: 'replace', path: '/title', value: `second ${RED}` }])
    assert.match(await run(user, 'diff', 't', '--from', last!), ': nothing differs\n')

    for (const words of [[], ['--from', '3', '--to', '1'], ['--from', 'x']])
      assert.is((await user.run('audit', 'diff', 't', ...words)).how, 2, words.join(' '))
    const { how, out } = await user.run('audit', 'diff', 't', '--from', '999', '--json')
    assert.equal([how, documentsIn(out)[0].type], [2, 'error'])
  }))

test.run()
