import { writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { ask, tokenIn } from './support/api.ts'
import { type Desk, type Edited, newDesk, putSession } from './support/desk.ts'
import type { Document } from './support/documents.ts'
import { runJson } from './support/documents.ts'
import { hasTerminals, runOnTerminal } from './support/processes.ts'
import type { User } from './support/user.ts'
import { inOwnWorld, namespaceOf, type World } from './support/world.ts'

const test = suite('tracebook blame, why, commits and pr')

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 24 * 3_600_000]

let words = 0
/** Lines that nobody else writes. */
const code = (count: number): string[] => {
  words += 1
  return Array.from({ length: count }, (_, i) => `  const word${words}at${i} = compute(${i})`)
}

const spans = (documents: readonly Document[]) =>
  documents
    .filter(({ type }) => type !== 'lines')
    .map((one) => {
      const trace = one['trace'] as { externalId: string } | undefined
      return [one['start'], one['end'], one['type'] === 'range' ? one['evidence'] : 'unknown', trace?.externalId]
    })

/** Waits until what was written before is known: a session is, whose lines are in a file of its own. */
const settle = async (desk: Desk, wrote: (externalId: string, edit: Edited) => Promise<void>): Promise<void> => {
  const lines = code(2)
  desk.put('settled.ts', ...lines)
  await wrote(`settled-${words}`, { file: join(desk.root, 'settled.ts'), after: lines })
  await until(async () => spans(await desk.documents('blame', 'settled.ts'))[0]?.[2] === 'run')
}

/** A person with a repository, and sessions in it at a time. */
const atDesk = (
  work: (
    desk: Desk & { wrote: (id: string, at: number, ...edits: Edited[]) => Promise<void>; settled: () => Promise<void> },
    world: World,
  ) => Promise<unknown>,
) =>
  inOwnWorld(async (world) => {
    const { url, user, folder } = world
    const desk = newDesk(user, join(folder, 'ada'))
    desk.git('init', '--quiet')
    const wrote = (id: string, at: number, ...edits: Edited[]) =>
      putSession(url, user, id, { projectPath: desk.root, title: `Title of ${id}` }, at, ...edits)
    const settled = () => settle(desk, (id, edit) => wrote(id, Date.now() - MINUTE, edit))
    await work({ ...desk, wrote, settled }, world)
  })

test('each line has its session, committed or not, and what a person typed is unknown', () =>
  atDesk(async ({ root, user, put, commit, run, wrote, settled, documents }, { url }) => {
    const now = Date.now()
    const [one, two] = [code(3), code(2)]
    put('src/a.ts', '// a line that a person typed', ...one, '}')
    await wrote('first-session', now - HOUR, { file: join(root, 'src/a.ts'), after: one })
    const sha = commit(now - HOUR + MINUTE)
    put('src/a.ts', '// a line that a person typed', ...one, '}', '\tif (typed) by.hand()', ...two)
    await wrote('second-session', now - MINUTE, { file: 'src/a.ts', after: two })
    await settled()

    const { documents: found } = await runJson(user, 'blame', 'src/a.ts')
    assert.equal(spans(found), [
      [1, 1, 'unknown', undefined],
      [2, 4, 'run', 'first-session'],
      [5, 5, 'unknown', undefined],
      [6, 6, 'unknown', undefined],
      [7, 8, 'run', 'second-session'],
    ])
    assert.equal(
      found.map(({ commit: of }) => of),
      [sha, sha, sha, undefined, undefined, undefined],
    )
    assert.equal(found.at(-1), { type: 'lines', total: 8, weak: 1, replaced: 0, run: 5, moved: 0, unknown: 2 })
    const slug = await namespaceOf(url, user)
    assert.is(found[1]!['url'], `${url}/@${slug}/first-session?m=call-0`)

    const { out, err } = await run('blame', 'src/a.ts')
    const lines = out.trimEnd().split('\n')
    const name = out.match(/run +(\S+) /)![1]!
    assert.is(lines.length, 8)
    assert.is(lines[1], `run  ${name}  claude-code  first-se  2) ${one[0]}`)
    assert.match(lines[5]!, /^- +6\) {5}if \(typed\) by\.hand\(\)$/)
    assert.is(err, '')
    assert.equal(spans(await documents('blame', 'src/a.ts:3-7')), [
      [3, 4, 'run', 'first-session'],
      [5, 5, 'unknown', undefined],
      [6, 6, 'unknown', undefined],
      [7, 7, 'run', 'second-session'],
    ])
    assert.is((await documents('blame', 'src/a.ts', '--at', 'HEAD')).length, 4)
    if (!hasTerminals) return
    const shown = await runOnTerminal({ ...user, variables: user.variables }, {}, 'blame', join(root, 'src/a.ts'))
    assert.match(shown.out, `\u001b[1m\u001b[33mrun  ${name}  claude-code  first-se\u001b[39m\u001b[22m  2)`)
  }))

test('what cannot be asked for is refused: no file, line, commit or repository with 2, binary and very long files with 1', () =>
  atDesk(async ({ root, put, run, git }, { folder }) => {
    put('a.ts', 'one', 'two')
    put('long.ts', ...Array.from({ length: 20_001 }, () => '}'))
    writeFileSync(join(root, 'x.bin'), 'text\0text\n')
    writeFileSync(join(root, 'late.txt'), `${'x'.repeat(8_000)}\ntext\0text\n`)
    writeFileSync(join(root, 'wide.txt'), Buffer.from('\ufeffone\n', 'utf16le'))
    writeFileSync(join(root, 'empty'), '')
    const code = async (...args: string[]) => {
      const { how, out, err } = await run(...args)
      return [how, `${out}${err}`] as const
    }
    for (const [why, how, ...args] of [
      [/There is no file "none"/, 2, 'blame', 'none'],
      [/is not a file/, 2, 'blame', '.'],
      [/no line 3: it has 2/, 2, 'blame', 'a.ts:3'],
      [/names no lines/, 2, 'blame', 'a.ts:0'],
      [/names no lines/, 2, 'blame', 'a.ts:2-1'],
      [/There is no commit "HEAD"/, 2, 'blame', 'a.ts', '--at', 'HEAD'],
      [/There is no commit "--all"/, 2, 'blame', 'a.ts', '--at=--all'],
      [/Name one line/, 2, 'why', 'a.ts'],
      [/Name one line/, 2, 'why', 'a.ts:1-2'],
      [/no remote "none"/, 2, 'blame', 'a.ts', '--remote', 'none'],
      [/There is no namespace "none"/, 2, 'blame', 'a.ts', '--namespace', 'none'],
      [/There is no commit "HEAD"/, 2, 'commits'],
      [/There is no commit "none"/, 2, 'commits', 'none..HEAD'],
      [/not known where this branch began/, 2, 'pr'],
      [/binary file/, 1, 'blame', 'x.bin'],
      [/binary file/, 1, 'blame', 'wide.txt'],
      [/^-  2\) text\S+text\n$/, 0, 'blame', 'late.txt:2'],
      [/has 20001 lines/, 1, 'blame', 'long.ts'],
      [/unknown/, 1, 'why', 'a.ts:1'],
      [/^$/, 0, 'blame', 'empty'],
      [/^-  20001\) }\n$/, 0, 'blame', 'long.ts:20001'],
      [/^-  2\) two\n$/, 0, 'blame', 'a.ts:2-9'],
    ] as const) {
      const [ended, said] = await code(...args)
      assert.is(ended, how, `${args.join(' ')}: ${said}`)
      assert.match(said, why)
    }
    const outside = join(folder, 'outside.ts')
    writeFileSync(outside, 'x\n')
    assert.match((await code('blame', outside))[1], /is not in a git repository/)
    git('init', '--quiet', '--bare', join(root, 'bare.git'))
    writeFileSync(join(root, 'bare.git', 'file'), 'x\n')
    assert.match((await code('blame', 'bare.git/file'))[1], /no files of a repository/)
  }))

test('why shows the prompt, the words before the call and the call, without what would control the terminal', () =>
  atDesk(async ({ root, user, put, commit, run, wrote, settled }, { url }) => {
    const now = Date.now()
    const [first, lines] = [code(2), code(60)]
    put('a.ts', '// a line that a person typed', ...first, ...lines)
    const file = join(root, 'a.ts')
    await wrote('a-session', now - HOUR, { file, after: first }, { file, before: ['before'], after: lines })
    commit(now - HOUR + MINUTE)
    await settled()
    const { how, out, err } = await run('why', 'a.ts:40')
    assert.equal([how, err], [0, ''])
    assert.match(out, /^Title of a-session\na\.ts:40 {2}run: /)
    assert.ok(out.includes(`${url}/@`) && out.includes('/a-session?m=call-1\n'), out)
    assert.match(out, /user\n {2}Make it \\u001b\[31m better\n/)
    assert.ok(out.includes('  Now the edit 1.\n') && !out.includes('the edit 0'), out)
    assert.ok(out.includes('  > Edit\n') && out.includes(lines[36]!.trim()) && !out.includes(lines[5]!.trim()), out)
    assert.match(out, /… \d+ more lines/)
    const [document] = (await runJson(user, 'why', 'a.ts:40')).documents
    const { prompt, words: said, call } = document as unknown as Record<string, { text: string; toolName: string }>
    assert.equal([prompt!.text, said!.text, call!.toolName], ['Make it \u001b[31m better', 'Now the edit 1.', 'Edit'])

    const unknown = await run('why', 'a.ts:1')
    assert.is(unknown.how, 1)
    assert.match(unknown.out, /^a\.ts:1 is unknown.*\nIt comes from the commit [0-9a-f]{10} "change" of /)
    put('a.ts', '// another line of a person')
    assert.match((await run('why', 'a.ts:1')).out, /It is not committed/)
  }))

test('commits and pr count the lines of sessions; a record is of numbers, and repeating it changes nothing', () =>
  atDesk(async ({ root, user, git, put, commit, run, wrote, settled, documents }, { url }) => {
    const now = Date.now()
    put('a.ts', 'a line of a person')
    writeFileSync(join(root, 'x.bin'), '\0')
    const base = commit(now - 3 * HOUR)
    const [one, two] = [code(3), code(2)]
    await wrote(
      'one-session',
      now - 2 * HOUR,
      { file: 'a.ts', after: one },
      { file: 'b.ts', before: ['b'], after: two },
    )
    put('a.ts', 'a line of a person', ...one, 'and another line')
    const first = commit(now - 2 * HOUR + MINUTE)
    put('b.ts', ...two)
    writeFileSync(join(root, 'x.bin'), '\0x')
    const second = commit(now - 2 * HOUR + 2 * MINUTE)
    await settled()

    const found = await documents('commits', first, second, '--withheld')
    const numbers = { weak: 0, replaced: 0, moved: 0 }
    const externalId = 'one-session'
    assert.is((await runJson({ ...user, run }, 'commits', first, '--withheld')).documents.length, 2)
    const traceOf = (document: Document) => {
      const { traces, ...rest } = document['commit'] as { traces: { trace: { externalId: string }; lines: object }[] }
      return { ...rest, traces: traces.map(({ trace, lines }) => [trace.externalId, lines]) }
    }
    const expected = [
      {
        sha: first,
        subject: 'change',
        at: Math.floor((now - 2 * HOUR + MINUTE) / 1_000) * 1_000,
        lines: { ...numbers, total: 4, run: 3, unknown: 1 },
        traces: [[externalId, { replaced: 0, run: 3 }]],
      },
      {
        sha: second,
        subject: 'change',
        at: Math.floor((now - 2 * HOUR + 2 * MINUTE) / 1_000) * 1_000,
        lines: { ...numbers, total: 2, run: 2, unknown: 0 },
        traces: [[externalId, { replaced: 0, run: 2 }]],
      },
    ]
    assert.equal(found.slice(0, 2).map(traceOf), expected)
    assert.equal(found[2], { type: 'withheld', lines: 6, counted: 5, withheld: 0 })
    const shown = await run('commits', `${base}..HEAD`)
    assert.match(shown.out, `${second.slice(0, 10)}  `)
    assert.match(shown.out, /2 run {2}by one-sess {2}change\n/)
    assert.match(shown.err, 'Left out: 1 file that git takes for binary.')
    assert.match((await run('commits', 'HEAD..HEAD')).err, 'There are no commits in HEAD..HEAD.')

    const results = async () =>
      (await documents('commits', `${base}..HEAD`, '--record')).map(
        ({ commit: of }) => (of as { result: string }).result,
      )
    assert.equal(await results(), ['created', 'created'])
    assert.equal(await results(), ['unchanged', 'unchanged'])
    git('commit', '--quiet', '--amend', '--no-edit', '--reset-author')
    assert.equal(await results(), ['updated', 'unchanged'], 'a rebased twin takes the place')
    const slug = await namespaceOf(url, user)
    const { commits } = await ask<{ commits: { sha: string }[] }>(url, `/v1/namespaces/${slug}/commits`, {
      token: tokenIn(user.config),
    })
    assert.equal(commits.map(({ sha }) => sha).sort(), [first, git('rev-parse', 'HEAD')].sort())
    assert.is(git('log', '-1', '--format=%B'), 'change')

    const { out } = await run('pr', base)
    assert.match(out, 'Of 6 lines added in 2 commits, sessions of coding agents wrote 5.\n')
    assert.ok(out.includes(`- [Title of one-session](<${url}/@${slug}/one-session>): claude-code, `), out)
    assert.match(out, '  - Make it ⟨U+001B⟩\\[31m better\n'.replace('⟨U+001B⟩', '␛'))
    assert.match(out, '| run | 5 |\n| unknown | 1 |\n')
    const described = await documents('pr', base)
    assert.equal(
      described.map(({ type }) => type),
      ['session', 'lines'],
    )
    git('remote', 'add', 'origin', 'https://ada:secret@codehost.example/team/app.git')
    git('update-ref', 'refs/remotes/origin/main', base)
    assert.match((await run('pr')).out, 'Of 6 lines added in 2 commits, ')
  }))

/** Hands all requests on, and keeps what was sent. */
const startRecorder = async (url: string) => {
  const sent: string[] = []
  const http = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    sent.push(`${incoming.method} ${incoming.url} ${JSON.stringify(incoming.headers)} ${body}`)
    const onward = request(
      `${url}${incoming.url}`,
      { method: incoming.method!, headers: incoming.headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(outgoing)
      },
    )
    onward.end(body)
  })
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening))
  const close = () => new Promise((closed) => void (http.close(closed), http.closeAllConnections()))
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, sent, close }
}

test('of the repository only paths, dates and hashes are sent, in one question for a thousand lines', () =>
  inOwnWorld(async ({ url, folder, newMachine }) => {
    const recorder = await startRecorder(url)
    try {
      const user = newMachine('eve')
      const through: User = { ...user, variables: { ...user.variables, TRACEBOOK_URL: recorder.url } }
      const desk = newDesk(through, join(folder, 'eve'))
      const { git, put, commit, run } = desk
      git('init', '--quiet')
      assert.is((await run('login')).how, 0)
      const [agents, secret] = [code(500), 'the launch is on the fourteenth of July']
      put('src/launch.ts', secret, ...agents)
      put('gone.ts', 'an old secret of the launch')
      commit(Date.now() - 2 * HOUR)
      put('src/launch.ts', secret, ...agents, ...code(498))
      git('rm', '--quiet', 'gone.ts')
      commit(Date.now() - HOUR, '--message=the subject of the launch', '--author=Somebody <somebody@example.com>')
      put('src/launch.ts', `${secret}!`, ...agents, ...code(498), 'and one of today')
      git('remote', 'add', 'origin', 'https://eve:password@codehost.example/team/app.git')
      recorder.sent.length = 0
      const blamed = await run('blame', 'src/launch.ts')
      assert.is(blamed.how, 0, blamed.err)
      const questions = recorder.sent.filter((one) => one.startsWith('POST'))
      assert.is(questions.length, 1)
      const { hunks, repositories } = JSON.parse(questions[0]!.slice(questions[0]!.indexOf('} {') + 2)) as {
        hunks: object[]
        repositories: string[]
      }
      assert.equal(repositories, ['https://codehost.example/team/app.git'])
      for (const hunk of hunks)
        for (const [name, value] of Object.entries(hunk)) {
          if (name === 'path') assert.is(value, 'src/launch.ts')
          else if (name === 'added' || name === 'removed')
            for (const hash of value) assert.match(hash, /^(?:[0-9a-f]{16})?$/)
          else assert.ok(['at', 'until', 'start'].includes(name) && Number.isInteger(value), name)
        }
      const said = await run('commits', 'HEAD', '--record')
      assert.is(said.how, 0, said.err)
      assert.is((await run('pr', 'HEAD~1')).how, 0)
      assert.is((await run('why', 'src/launch.ts:3')).how, 1)
      const texts = [
        secret,
        'fourteenth',
        'old secret',
        'subject',
        'omebody',
        'password',
        'one of today',
        agents[0]!.trim(),
        desk.root,
      ]
      for (const one of recorder.sent)
        for (const text of texts) assert.not(one.includes(text), `${text} was sent: ${one.slice(0, 300)}`)
    } finally {
      await recorder.close()
    }
  }))

test('a colleague asks for a line of three weeks ago on another machine, before and after the branch was squashed', () =>
  inOwnWorld(async ({ url, folder, user: ada, newUser }) => {
    const bob = await newUser('bob')
    assert.is((await ada.run('namespaces', 'create', 'team')).how, 0)
    const [invite] = (await runJson(ada, 'invite', '--namespace', 'team')).documents
    assert.is((await bob.run('invite', 'accept', (invite!['invite'] as { code: string }).code)).how, 0)
    assert.is((await ada.run('switch', 'team')).how, 0)
    const then = Date.now() - 21 * DAY
    const [upstream, hers] = [join(folder, 'app.git'), newDesk(ada, join(folder, 'ada'))]
    hers.git('init', '--quiet')
    hers.put('src/shop.ts', '// a shop', 'let old = 1 // that is replaced')
    hers.commit(then - DAY)
    hers.git('checkout', '--quiet', '-b', 'feature')
    const lines = code(24)
    const one = 'let better = 2 // that takes its place'
    const fields = {
      projectPath: hers.root,
      gitRemoteUrl: 'git@codehost.example:ada/app.git',
      title: 'The better shop',
    }
    const file = join(hers.root, 'src/shop.ts')
    await putSession(
      url,
      ada,
      'her-session',
      fields,
      then - HOUR,
      { file, before: ['let old = 1 // that is replaced'], after: [one] },
      { file, before: ['x'], after: lines },
    )
    hers.put('src/shop.ts', '// a shop', one, '// by hand, in between', ...lines)
    hers.commit(then)
    hers.git('init', '--quiet', '--bare', upstream)
    hers.git('push', '--quiet', upstream, 'main', 'feature')

    const his = newDesk(bob, join(folder, 'bob'))
    his.git('clone', '--quiet', upstream, '.')
    his.git('config', 'tracebook.namespace', 'team')
    his.git('checkout', '--quiet', 'feature')
    const expected = [
      [1, 1, 'unknown', undefined],
      [2, 2, 'replaced', 'her-session'],
      [3, 3, 'unknown', undefined],
      [4, 27, 'run', 'her-session'],
    ]
    await until(async () => spans(await his.documents('blame', 'src/shop.ts')).length === 4)
    assert.equal(spans(await his.documents('blame', 'src/shop.ts')), expected)
    const why = await his.run('why', 'src/shop.ts:2')
    assert.is(why.how, 0, why.err)
    assert.match(why.out, /^The better shop\nsrc\/shop\.ts:2 {2}replaced: [^]*Make it [^]*Now the edit 0\.\n/)

    his.git('checkout', '--quiet', 'main')
    his.git('merge', '--quiet', '--squash', 'origin/feature')
    his.commit(Date.now() - MINUTE)
    his.git('branch', '--quiet', '-D', 'feature')
    his.git('update-ref', '-d', 'refs/remotes/origin/feature')
    assert.equal(spans(await his.documents('blame', 'src/shop.ts')), expected, 'squashed')
    assert.match((await his.run('why', 'src/shop.ts:5')).out, /^The better shop\n[^]*Make it [^]*Now the edit 1\.\n/)

    his.put('.tracebook.json', '{"namespace":"strangers"}')
    his.git('config', '--unset', 'tracebook.namespace')
    const untrusted = await his.run('blame', 'src/shop.ts')
    assert.equal(
      [untrusted.how, spans(await his.documents('blame', 'src/shop.ts', '--namespace', 'team'))],
      [0, expected],
    )
    assert.match(untrusted.err, 'names the namespace strangers, to which you have not agreed')
    const shallow = newDesk(bob, join(folder, 'bob'), join(folder, 'bob', 'shallow'))
    shallow.git('clone', '--quiet', '--depth=1', `file://${his.root}`, '.')
    assert.match(
      (await shallow.run('blame', 'src/shop.ts', '--namespace', 'team')).err,
      'The history of this clone is cut off',
    )
  }))

test.run()
