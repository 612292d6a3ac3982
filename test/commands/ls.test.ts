import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ask, tokenIn } from './support/api.ts'
import { runJson } from './support/documents.ts'
import { hasTerminals, runOnTerminal } from './support/processes.ts'
import { inOwnWorld, namespaceOf } from './support/world.ts'

const test = suite('tracebook ls')

const ids = (out: string) =>
  out
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(/ +/).at(-1))

test('traces are listed newest first, page by page, and chosen by project and agent', () =>
  inOwnWorld(async ({ url, user, newUser, putTrace }) => {
    const empty = await user.run('ls')
    assert.equal([empty.how, empty.out], [0, ''])
    assert.match(empty.err, /There are no traces in the namespace ".*"\. To upload your sessions, run: .*sync\n$/)

    const all = Array.from({ length: 110 }, (_, i) => `trace-${i}`)
    await Promise.all(all.map((id) => putTrace(user, id, { projectName: id === 'trace-7' ? 'Shop' : 'other' })))
    await putTrace(user, 'odd', { title: 'red \u001b[31m and\nlines', agentId: 'codex', projectName: 'shop' }, [
      'Hello',
    ])

    const listed = await user.run('ls', '--limit', '1000')
    assert.equal([listed.how, listed.err], [0, ''])
    assert.match(listed.out, /^when +title +project +agent +messages +sub-agents +visibility +id\n/)
    assert.equal(ids(listed.out).toSorted(), ['odd', ...all].toSorted())
    assert.is(ids(listed.out)[0], 'odd')
    assert.match(listed.out, / red \\u001b\[31m and\\u000alines +shop +codex +1 +- +private +odd\n/)
    assert.is(ids((await user.run('ls')).out).length, 50)
    assert.equal(ids((await user.run('ls', '--project', 'SHOP')).out), ['odd', 'trace-7'])
    assert.equal(ids((await user.run('ls', '--project', 'shop', '--agent', 'codex')).out), ['odd'])
    assert.match((await user.run('ls', '--project', 'none')).err, 'No trace matches')

    const { documents } = await runJson(user, 'ls', '-n', '101')
    assert.equal(
      documents.map(({ trace }) => (trace as { externalId: string }).externalId),
      ids(listed.out).slice(0, 101),
    )

    // Others see what is public, by name or in the feed.
    await putTrace(user, 'open', { visibility: 'public' })
    const slug = await namespaceOf(url, user)
    const other = await newUser('bob')
    assert.equal(ids((await other.run('ls', '--namespace', slug)).out), ['open'])
    assert.match((await other.run('ls', '--public')).out, new RegExp(` ${slug} +open\n$`))
    assert.equal(ids((await other.run('ls', '--public', '--namespace', slug)).out), ['open'])
    const unknown = await other.run('ls', '--namespace', 'no-such-namespace')
    assert.equal([unknown.how, unknown.out], [2, ''])
    assert.match(unknown.err, 'There is no namespace "no-such-namespace"')
    assert.is((await user.run('ls', '--limit', 'many')).how, 2)
  }))

test('sub-agents are numbers at their session, and traces of the list on request, in every list', () =>
  inOwnWorld(async ({ url, user, newUser, putTrace }) => {
    const slug = await namespaceOf(url, user)
    await putTrace(user, 'session', { visibility: 'public' })
    await putTrace(user, 'helper', { visibility: 'public', parentExternalId: 'session' })
    await putTrace(user, 'fork', { visibility: 'public', parentExternalId: 'session', parentKind: 'fork' })
    const other = await newUser('bob')
    for (const words of [[], ['--public'], ['--public', '--namespace', slug]]) {
      assert.equal(ids((await user.run('ls', '--subagents', ...words)).out), ['fork', 'helper', 'session'])
      for (const listed of [await user.run('ls', ...words), await user.run('ls', '--no-subagents', ...words)]) {
        assert.equal(ids(listed.out), ['fork', 'session'])
        assert.match(listed.out, / \+1 +\S+ +session\n/)
      }
    }
    assert.equal(ids((await other.run('ls', '--namespace', slug)).out), ['fork', 'session'])
  }))

test('traces are dated, sorted and chosen by when their sessions were', () =>
  inOwnWorld(async ({ url, user, putTrace }) => {
    const token = tokenIn(user.config)
    const say = (id: string, ...timestamps: number[]) =>
      ask(url, `/v1/traces/${id}/messages/batch`, {
        token,
        method: 'POST',
        body: {
          messages: timestamps.map((timestamp, i) => ({
            externalId: `m-${i}`,
            role: 'user',
            order: i,
            timestamp,
            textContent: 'Hello',
          })),
        },
      })
    for (const id of ['first', 'second', 'third']) await putTrace(user, id)
    const day = (date: number, hour: number) => new Date(2025, 0, date, hour).getTime()
    await say('first', day(4, 12), day(5, 13))
    await say('second', day(2, 12))
    // Of the third it is not known: it counts when it came, which is now.
    assert.equal(ids((await user.run('ls')).out), ['third', 'first', 'second'])
    assert.match((await user.run('ls')).out, /\nJan 4, 2025, .* first\nJan 2, 2025, .* second\n$/)
    assert.equal(ids((await user.run('ls', '--sort', 'created')).out), ['third', 'second', 'first'])
    assert.equal(ids((await user.run('ls', '--sort', 'updated')).out), ['second', 'first', 'third'])
    assert.equal(ids((await user.run('ls', '--since', '2025-01-04')).out), ['third', 'first'])
    assert.equal(ids((await user.run('ls', '--since', '2025-01-03', '--until', '2025-01-04')).out), ['first'])
    assert.equal(ids((await user.run('ls', '--until', '2025-01-03')).out), ['second'])
    assert.equal(ids((await user.run('ls', '--since', '1d')).out), ['third'])
    for (const words of [
      ['--since', 'yesterday'],
      ['--sort', 'title'],
      ['--public', '--sort', 'started'],
    ])
      assert.is((await user.run('ls', ...words)).how, 2, words.join(' '))

    const { out } = await user.run('show', 'first')
    assert.match(out, /\nbegan +Jan 4, 2025, 12:00\ntook +over 1 d\n/)
    assert.match(out, /\n\nJan 4, 2025\n\n12:00:00 user\n {2}Hello\n\nJan 5, 2025\n\n13:00:00 user\n/)

    // A time too far ahead of the clock counts as when it came, and is marked.
    await putTrace(user, 'ahead')
    await say('ahead', new Date(2099, 0, 4).getTime(), new Date(2099, 0, 5).getTime())
    assert.match((await user.run('ls', '--limit', '1')).out, /\n[^\n]* \(clock ahead\) [^\n]* ahead\n$/)
    assert.equal(ids((await user.run('ls', '--since', '1d')).out), ['ahead', 'third'])
    const shown = (await user.run('show', 'ahead')).out
    assert.match(shown, /\nbegan +Jan 4, 2099, 00:00 \(clock ahead\)\n/)
    assert.not.match(shown, /\ntook /)
  }))

test('tokens and dollars are shown with --cost, and in the head of a trace', () =>
  inOwnWorld(async ({ url, user, putTrace }) => {
    const token = tokenIn(user.config)
    for (const id of ['none', 'some']) await putTrace(user, id, { model: 'new-1' })
    const usages = [
      { inputTokens: 1_200, cacheReadTokens: 30_000, outputTokens: 400, costUsd: 4.123 },
      { outputTokens: 9 },
    ]
    const messages = usages.map((usage, order) => ({
      externalId: `m-${order}`,
      role: 'assistant',
      order,
      usage,
      textContent: 'x',
    }))
    await ask(url, '/v1/traces/some/messages/batch', { token, method: 'POST', body: { messages } })
    const { out } = await user.run('ls', '--cost')
    assert.match(out, /^when +title +project +agent +messages +sub-agents +tokens +cost +visibility +id\n/)
    assert.match(out, / 2 +- +31\.6 k +at least \$4\.12 +private +some\n.* 0 +- +- +- +private +none\n$/)
    assert.not.match((await user.run('ls')).out, /cost|\$/)
    const shown = (await user.run('show', 'some')).out
    assert.match(
      shown,
      /\ntokens +1\.2 k in, 30\.0 k cached, 409 out\ncost +at least \$4\.12; no price is known for new-1\n/,
    )
    assert.not.match((await user.run('show', 'none')).out, /\n(tokens|cost) /)
  }))

test('on a terminal columns are fitted, ids are short, and colours follow NO_COLOR', () =>
  inOwnWorld(async ({ user, putTrace }) => {
    if (!hasTerminals) return console.log('left out: there is no script(1)')
    const long = `A title ${'that is long '.repeat(20)}`
    for (const id of ['0192f0c1-aaaa', '0192f0c1-bbbb', '7777f0c1-cccc'])
      await putTrace(user, id, { title: long, projectName: 'a-project-with-a-long-name' })
    for (const columns of [0, 60, 80, 120]) {
      const { out } = await runOnTerminal(user, { columns, variables: { NO_COLOR: '1' } }, 'ls')
      const lines = out.trimEnd().split('\n')
      assert.is(lines.length, 4)
      for (const line of lines) assert.ok(line.length <= (columns || 80), line)
      assert.equal(ids(out), ['7777f0c1-c', '0192f0c1-b', '0192f0c1-a'])
    }
    const more = await runOnTerminal(user, { columns: 100 }, 'ls', '-n', '1')
    assert.match(more.out, /^\u001b\[1mwhen .*\u001b\[22m\n/)
    assert.match(more.out, 'There are more. To list them, run:')
  }))

test('on a terminal ids differ over all pages, and are whole where their beginning is not looked for', () =>
  inOwnWorld(async ({ url, user, newUser, putTrace }) => {
    if (!hasTerminals) return console.log('left out: there is no script(1)')
    const all = Array.from({ length: 103 }, (_, i) => `0192f0c1-${String(i).padStart(3, '0')}-tail`)
    await Promise.all(all.map((id) => putTrace(user, id, { visibility: 'public' })))
    const terminal = { columns: 200, variables: { NO_COLOR: '1' } }
    const own = ids((await runOnTerminal(user, terminal, 'ls', '-n', '1000')).out.replaceAll('\r', ''))
    assert.equal(own.toSorted(), all.map((id) => id.slice(0, 12)).toSorted())
    const other = await newUser('bob')
    for (const words of [['--public'], ['--namespace', await namespaceOf(url, user)]]) {
      const { out } = await runOnTerminal(other, terminal, 'ls', '-n', '2', ...words)
      for (const id of ids(out.replaceAll('\r', '')).slice(0, 2)) assert.ok(all.includes(id!), out)
    }
  }))

test.run()
