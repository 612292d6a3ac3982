import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ask, tokenIn } from './support/api.ts'
import { runJson } from './support/documents.ts'
import { hasTerminals, runOnTerminal } from './support/processes.ts'
import { inOwnWorld, namespaceOf } from './support/world.ts'

const test = suite('tracebook share, unshare, show and rm')

/** An integer that a double cannot hold. */
const LARGE = '12345678901234567890'
const [one, two] = ['0192f0c1-aaaa-4000-8000-000000000001', '0192f0c1-bbbb-4000-8000-000000000002']

test('a trace is found by id, beginning or link; public only after a yes; private again', () =>
  inOwnWorld(async ({ url, user, newUser, putTrace }) => {
    const other = await newUser('bob')
    const slug = await namespaceOf(url, user)
    await putTrace(user, one, { title: 'The first' }, ['Mend the login page', 'Done.'])
    await putTrace(user, two, { title: 'The second' })
    const link = `${url}/@${slug}/${one}`

    const refused = await user.run('share', one)
    assert.equal([refused.how, refused.out], [2, ''])
    assert.match(refused.err, '--yes')
    const isPublic = async (id: string) => {
      const { trace } = await ask<{ trace: { visibility: string } }>(url, `/v1/traces/${id}`, {
        token: tokenIn(user.config),
      })
      return trace.visibility === 'public'
    }
    assert.not(await isPublic(one))
    if (hasTerminals) {
      const no = await runOnTerminal(user, { input: 'n' }, 'share', '0192f0c1-a')
      assert.is(no.how, 2)
      for (const seen of ['The first', '2 messages', 'Mend the login page', url, 'nothing was made public'])
        assert.ok(no.out.includes(seen), seen)
      assert.not(await isPublic(one))
      const yes = await runOnTerminal(user, { input: 'y' }, 'share', '0192f0c1-a')
      assert.equal([yes.how, yes.out.endsWith(`\n${link}\n`)], [0, true], yes.out)
    } else await user.run('share', one, '--yes')
    assert.ok(await isPublic(one))
    assert.equal(await user.run('share', one, '--yes'), {
      how: 0,
      out: `${link}\n`,
      err: 'The trace is public already.\n',
    })
    assert.match(await (await fetch(link)).text(), /^<!doctype html>[^]*Mend the login page/)

    // Others read it by its link, but change nothing.
    const read = await other.run('show', link)
    assert.match(
      read.out,
      /^The first\nid +0192f0c1-aaaa[^]*\n\n.* user\n {2}Mend the login page\n\n.* assistant\n {2}Done\.\n$/,
    )
    for (const command of ['unshare', 'share', 'rm']) {
      const { how, err } = await other.run(command, link, ...(command === 'unshare' ? [] : ['--yes']))
      assert.is(how, 2, command)
      assert.match(err, `You are not a member of the namespace "${slug}"`)
    }

    assert.match((await user.run('unshare', link)).out, 'is private: only members of the namespace')
    assert.not(await isPublic(one))
    assert.is((await fetch(link)).status, 401)
    assert.match((await other.run('show', one)).err, 'There is no trace')
    for (const command of ['show', 'unshare', 'rm']) {
      const { how, err } = await user.run(command, '0192f0c1')
      assert.is(how, 2)
      assert.match(err, `"0192f0c1" matches 2 traces: give more characters of the id.\n  ${two}\n  ${one}\n`)
    }
    const shared = await runJson(user, 'share', two, '--yes')
    assert.equal(shared.documents[0], {
      ...{ type: 'share', externalId: two, namespace: slug, visibility: 'public', url: `${url}/@${slug}/${two}` },
    })
    assert.is((await runJson(user, 'unshare', two)).documents[0]?.['visibility'], 'private')
    assert.is((await user.run('show', `${url}/@elsewhere/${two}`)).how, 2)
    assert.is((await user.run('show', link, '--server', 'http://127.0.0.1:1')).how, 2)
  }))

test('all of a trace is shown with --full, exactly with --json, and in a pager where it is long', () =>
  inOwnWorld(async ({ url, user, putTrace }) => {
    await putTrace(user, 'tools', { title: 'odd \u001b[2J title' })
    const args = { command: 'ls\npwd', depth: (JSON as unknown as { rawJSON(text: string): object }).rawJSON(LARGE) }
    const parts = [
      { type: 'thinking', content: { text: 'First\nlook' } },
      { type: 'tool_call', content: { callId: 'c', toolName: 'Bash', args } },
      { type: 'tool_result', content: { callId: 'c', toolName: 'Bash', output: 'a.ts\nb.ts', status: 'success' } },
    ]
    const token = tokenIn(user.config)
    const path = '/v1/traces/tools/messages/m'
    await ask(url, path, { token, method: 'PUT', body: { role: 'assistant', parts } })

    const short = await user.run('show', 'tools')
    assert.match(short.out, /^odd \\u001b\[2J title\n/)
    assert.match(short.out, '\n  thinking: First (+1 line)\n  > Bash {"command":"ls\\npwd"')
    const full = await user.run('show', 'tools', '--full')
    assert.ok(
      full.out.endsWith(
        `\n  thinking:\n    First\n    look\n  > Bash\n    command: ls\n    pwd\n    depth: ${LARGE}\n  < Bash:\n    a.ts\n    b.ts\n`,
      ),
      full.out,
    )
    assert.match((await user.run('show', 'tools', '--json')).out, `"depth":${LARGE}`)
    assert.equal(
      (await runJson(user, 'show', 'tools')).documents.map(({ type }) => type),
      ['trace', 'message'],
    )

    await putTrace(
      user,
      'long',
      { title: 'Long' },
      Array.from({ length: 150 }, (_, i) => `line ${i}`),
    )
    if (!hasTerminals) return
    const PAGER = "sed 's/^/paged: /'"
    const paged = (id: string, ...options: string[]) =>
      runOnTerminal(user, { variables: { PAGER } }, 'show', id, ...options).then(({ how, out }) => {
        assert.is(how, 0, out)
        return out
      })
    const out = await paged('long')
    assert.equal([out.split('paged: ').length > 300, out.includes('line 149')], [true, true])
    assert.not.match(await paged('tools'), 'paged: ')
    assert.not.match(await paged('long', '--no-pager'), 'paged: ')
    const left = await runOnTerminal(user, { variables: { PAGER: 'head -n 3' } }, 'show', 'long')
    assert.equal([left.how, left.out.trimEnd().split('\n').length], [0, 3], left.out)
  }))

test('traces are deleted together, after a yes, or none of them', () =>
  inOwnWorld(async ({ user, putTrace }) => {
    for (const id of [one, two]) await putTrace(user, id, { title: `${id}\nodd` }, ['Hello', 'Hi'])
    const refused = await user.run('rm', one, two)
    assert.equal([refused.how, refused.out], [2, ''])
    assert.is((await user.run('rm', one, 'no-such-trace', '--yes')).how, 2)
    if (hasTerminals) {
      const { how, out } = await runOnTerminal(user, { input: 'n', columns: 200 }, 'rm', one, two)
      assert.is(how, 2)
      assert.match(out, `2 traces will be erased for good:\n  ${one}\\u000aodd (${one}, 2 messages,`)
    }
    assert.is((await user.run('ls')).out.trimEnd().split('\n').length, 3, 'nothing is gone')
    const { how, documents } = await runJson(user, 'rm', one, two, one.slice(0, 13), '--yes')
    assert.is(how, 0)
    assert.equal(
      documents.map(({ type, externalId, messages }) => ({ type, externalId, messages })),
      [one, two].map((externalId) => ({ type: 'removed', externalId, messages: 2 })),
    )
    assert.match((await user.run('ls')).err, 'There are no traces')
  }))

test('a trace is moved to a team, is found by its old link, and nowhere where one is no member', () =>
  inOwnWorld(async ({ url, user, putTrace }) => {
    const slug = await namespaceOf(url, user)
    await putTrace(user, one, { title: 'The first' }, ['Mend the login page', 'Done.'])
    await user.run('namespaces', 'create', 'my-team', '--name', 'My team')
    const missing = await user.run('move', one, 'no-such-team')
    assert.is(missing.how, 2)
    assert.match(missing.err, 'You are not a member of a namespace "no-such-team"')
    const link = `${url}/@my-team/${one}`
    assert.equal(await user.run('move', one, '@my-team'), { how: 0, out: `${link}\n`, err: '' })
    assert.match((await user.run('show', `${url}/@${slug}/${one}`)).out, 'Mend the login page')
    const { documents } = await runJson(user, 'move', link, slug)
    assert.equal(documents, [
      { type: 'moved', externalId: one, from: 'my-team', namespace: slug, url: `${url}/@${slug}/${one}` },
    ])
  }))

test.run()
