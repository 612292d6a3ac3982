import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Evidence } from '../../../src/contract/evidence.ts'
import { signCheckpoint } from '../../../src/server/proof/checkpoint.ts'
import { signer } from '../../server/proof/support.ts'
import { until } from '../../support/until.ts'
import { ask, tokenIn } from '../support/api.ts'
import { type Desk, newDesk, putSession } from '../support/desk.ts'
import type { Document } from '../support/documents.ts'
import type { Ended } from '../support/user.ts'
import { type World, inOwnWorld, namespaceOf } from '../support/world.ts'

const test = suite('tracebook audit evidence')

const [MINUTE, HOUR] = [60_000, 3_600_000]
const key = signer.verifier.text

let words = 0
const code = (count: number): string[] => {
  words += 1
  return Array.from({ length: count }, (_, i) => `  const word${words}at${i} = compute(${i})`)
}

/** A repository with a commit in which two sessions and a person have written. */
type Story = {
  readonly desk: Desk
  readonly world: World
  readonly sha: string
  readonly base: string
  readonly one: readonly string[]
  /** Makes a file, and gives it with its path. */
  make(...args: readonly string[]): Promise<{ readonly file: Evidence; readonly path: string; readonly err: string }>
  /** Checks a file, and gives the document that says what it proves. */
  check(path: string, ...args: readonly string[]): Promise<{ readonly how: Ended['how']; readonly found: Document }>
}

let files = 0

const inStory = (work: (story: Story) => Promise<unknown>) =>
  inOwnWorld(async (world) => {
    const { url, user, folder } = world
    const desk = newDesk(user, join(folder, 'ada'))
    const now = Date.now()
    desk.git('init', '--quiet')
    desk.put('README', 'a file of a person')
    const base = desk.commit(now - 2 * HOUR)
    const [one, two] = [code(3), code(2)]
    const wrote = (id: string, file: string, after: readonly string[]) =>
      putSession(url, user, id, { projectPath: desk.root }, now - HOUR, { file: join(desk.root, file), after })
    await wrote('first', 'src/a.ts', one)
    await wrote('second', 'src/b.ts', two)
    desk.put('src/a.ts', ...one, '}', 'typed.by(a, person)')
    desk.put('src/b.ts', ...two)
    const sha = desk.commit(now - HOUR + MINUTE)
    await until(async () => {
      const [found] = await desk.documents('commits', 'HEAD')
      return (found!['commit'] as { lines: { run: number } }).lines.run === 5
    })
    const make = async (...args: readonly string[]) => {
      const path = join(folder, `${++files}.evidence.json`)
      const { how, out, err } = await desk.run('audit', 'evidence', ...args, '--output', path)
      assert.equal([how, out], [0, ''], err)
      return { file: JSON.parse(readFileSync(path, 'utf8')) as Evidence, path, err }
    }
    const check = async (path: string, ...args: readonly string[]) => {
      const { how, out, err } = await desk.run('audit', 'verify', '--offline', path, '--json', ...args)
      assert.is(err, '', out)
      return { how, found: JSON.parse(out) as Document }
    }
    await work({ desk, world, sha, base, one, make, check })
  })

const typesIn = ({ events }: Evidence) =>
  events.map(({ entry }) => entry && (JSON.parse(entry) as readonly string[])[2])

test('a commit leads to the events of the sessions that wrote its lines, and the file is checked with the repository', () =>
  inStory(async ({ desk, world, sha, base, make, check }) => {
    const { file, path, err } = await make(`${base}..HEAD`)
    assert.match(err, /: 5 lines of 1 commit, 2 sessions, 4 events of the \d+ in the log\.\n$/)
    assert.equal(
      file.sessions.map(({ externalId, agentId, begins }) => [externalId, agentId, typesIn(file)[begins]]).sort(),
      [
        ['first', 'claude-code', 'TraceCreated'],
        ['second', 'claude-code', 'TraceCreated'],
      ],
    )
    const [commit, ...others] = file.commits
    assert.equal([commit!.sha, others], [sha, []])
    const shown = commit!.ranges.map(({ path, start, end, evidence, session, events }) => {
      const written = events.map((event) => typesIn(file)[event])
      return [path, start, end, evidence, file.sessions[session]!.externalId, written]
    })
    assert.equal(shown, [
      ['src/a.ts', 1, 3, 'run', 'first', ['MessageAdded']],
      ['src/b.ts', 1, 2, 'run', 'second', ['MessageAdded']],
    ])
    assert.equal(commit!.unknown, [{ path: 'src/a.ts', start: 4, end: 5 }])

    const { found } = await check(path, '--key', key, '--repo', desk.root)
    const { size } = found
    const lines = { checked: 5, of: 5 }
    const numbers = { events: 4, sessions: 2, commits: 1, lines, erased: 0, withheld: 0, keyGiven: true }
    assert.equal(found, { type: 'evidence', origin: signer.name, size, ...numbers })
    assert.equal((await check(path)).found['lines'], { checked: 0, of: 5 })

    const { how, out } = await desk.run('audit', 'verify', '--offline', path)
    assert.is(how, 0)
    assert.match(out, /came with the file\. All that follows holds only if that is the key of the log/)
    assert.match(out, /5\. The file names 5 lines of 1 commit, which were not checked: give the repository with --repo/)
    const slug = await namespaceOf(world.url, world.user)
    assert.match(out, `     ${slug}/first (claude-code): created `)
    const whole = await desk.run('audit', 'verify', '--offline', path, '--key', key, '--repo', '.')
    assert.match(whole.out, /which is the one that you gave\.\n2\. 4 events of the file are in the log/)
    assert.match(whole.out, /The text of 5 was recorded in these sessions before the checkpoint\.\n$/)
  }))

test('a file that was touched is refused with the step, the event and the line', () =>
  inStory(async ({ desk, sha, base, make, check }) => {
    const { file, path } = await make(`${base}..HEAD`)
    const refused = async (change: (file: Evidence) => void) => {
      const forged = structuredClone(file)
      change(forged)
      writeFileSync(`${path}.forged`, JSON.stringify(forged))
      const { how, found } = await check(`${path}.forged`, '--key', key, '--repo', desk.root)
      return [how, found['type'], found['step'], found['place']]
    }
    const first = (forged: Evidence) => forged.commits[0]!.ranges[0]!
    assert.equal(await refused(({ events }) => void (events[1]!.index += 1)), [3, 'refused', 2, 'event 1'])
    const line = `line 4 of src/a.ts in ${sha}`
    assert.equal(await refused((forged) => void (first(forged).end = 4)), [3, 'refused', 5, line], 'twice')
    const wrong = (forged: Evidence) => {
      first(forged).end = 5
      forged.commits[0]!.unknown = []
    }
    assert.equal(await refused(wrong), [3, 'refused', 5, `line 5 of src/a.ts in ${sha}`])
    const another = 'f'.repeat(40)
    const place = `commit ${another}`
    assert.equal(await refused(({ commits }) => void (commits[0]!.sha = another)), [3, 'refused', 5, place])
    const overlapping = (forged: Evidence) => {
      forged.commits[0]!.sha = another
      first(forged).end = 4
    }
    const before = `line 4 of src/a.ts in ${another}`
    assert.equal(await refused(overlapping), [3, 'refused', 5, before], 'before anything is read')
    const missing = (forged: Evidence) => void (first(forged).path = 'src/none.ts')
    assert.equal(await refused(missing), [3, 'refused', 5, `line 1 of src/none.ts in ${sha}`])
    writeFileSync(`${path}.forged`, '{"format": "tracebook-evidence/2"}')
    const { how, out } = await desk.run('audit', 'verify', '--offline', `${path}.forged`)
    assert.equal([how, out], [3, 'NOT proven: it is not an evidence file: its format is not "tracebook-evidence/1"\n'])
    for (const [code, ...args] of [
      [3, '--offline', join(desk.root, 'README')],
      [2, '--offline', path, '--repo', tmpdir()],
      [2, '--offline', path, '--key', 'none'],
      [2, '--repo', desk.root],
    ] as const)
      assert.is((await desk.run('audit', 'verify', ...args)).how, code, args.join(' '))
  }))

test('of withheld events the file has hashes only, and what is not in it anyway cannot be hidden', () =>
  inStory(async ({ desk, base, one, make, check }) => {
    const bare = await make(`${base}..HEAD`, '--hashes')
    assert.equal(typesIn(bare.file), [undefined, undefined, undefined, undefined])
    assert.not.ok(readFileSync(bare.path, 'utf8').includes(one[0]!.trim()))
    const options = ['--key', key, '--repo', desk.root]
    const { found } = await check(bare.path, ...options)
    assert.equal([found['withheld'], found['lines']], [4, { checked: 0, of: 5 }])

    const partly = await make(`${base}..HEAD`, '--hide', 'call-0')
    assert.equal(typesIn(partly.file).filter(Boolean), ['TraceCreated', 'TraceCreated'])
    const said = (await desk.run('audit', 'verify', '--offline', partly.path, ...options)).out
    assert.match(said, /2 of them are withheld: the file has their hashes only/)
    assert.match(said, /The text of 0 was recorded in these sessions before the checkpoint; the events that may have/)
    const { how, err } = await desk.run('audit', 'evidence', `${base}..HEAD`, '--hide', 'call-O')
    assert.equal([how, err], [2, 'tracebook: --hide: the file would have no message with the id "call-O" anyway.\n'])
  }))

test('a whole session needs no repository; a file is never overwritten, and nothing is left behind', () =>
  inStory(async ({ world: { folder, user }, desk, make, check }) => {
    const { file, path } = await make('--trace', 'first', '--trace', 'second', '--trace', 'first')
    assert.equal(file.commits, [])
    assert.equal(typesIn(file).sort(), [...Array<string>(6).fill('MessageAdded'), 'TraceCreated', 'TraceCreated'])
    assert.equal((await check(path)).found['events'], 8)
    const before = readFileSync(path, 'utf8')
    const again = await user.run('audit', 'evidence', '--trace', 'first', '--output', path)
    assert.equal([again.how, again.out], [2, ''])
    assert.match(again.err, 'is there already, and is not overwritten')
    assert.is(readFileSync(path, 'utf8'), before)
    const printed = await user.run('audit', 'evidence', '--trace', 'first')
    assert.equal([printed.how, (JSON.parse(printed.out) as Evidence).sessions.length], [0, 1])
    for (const output of [join(folder, 'none', 'x.json'), ''])
      assert.is((await user.run('audit', 'evidence', '--trace', 'first', '--output', output)).how, 2)
    assert.equal(
      readdirSync(folder).filter((name) => name.endsWith('.tmp')),
      [],
    )
    assert.equal(
      readdirSync(tmpdir()).filter((name) => name.startsWith('tracebook-evidence-')),
      [],
    )
    assert.is((await desk.run('audit', 'evidence', 'none')).how, 2)
  }))

test('--since proves that the log continues a checkpoint, and refuses one that it does not continue', () =>
  inStory(async ({ desk, world: { url, user, folder }, base, make, check }) => {
    const token = tokenIn(user.config)
    const note = async () => {
      const answer = await fetch(`${url}/v1/audit/checkpoint`, { headers: { authorization: `Bearer ${token}` } })
      return answer.text()
    }
    const kept = join(folder, 'kept.txt')
    await make(`${base}..HEAD`)
    const old = await note()
    writeFileSync(kept, old)
    await putSession(url, user, 'later', {}, Date.now())
    await until(async () => (await note()) !== old)
    const { file, path } = await make(`${base}..HEAD`, '--since', kept)
    assert.is(file.log.previous!.checkpoint, old)
    assert.is((await check(path, '--key', key)).how, 0)
    const { out } = await desk.run('audit', 'verify', '--offline', path)
    assert.match(out, /6\. The log has continued the checkpoint that it had signed at \d+ of these \d+ events\./)

    const refused = async (text: string) => {
      writeFileSync(kept, text)
      const output = join(folder, 'refused.json')
      const { how, err } = await desk.run('audit', 'evidence', `${base}..HEAD`, '--since', kept, '--output', output)
      assert.not.ok(existsSync(output))
      return [how, err] as const
    }
    const [forged, reason] = await refused(old.replace(/\n(\d+)\n/, '\n1\n'))
    assert.is(forged, 2, reason)
    assert.match(reason, 'is no checkpoint that the key of this log has signed')
    const [other, said] = await refused(signCheckpoint({ size: 3, root: Buffer.alloc(32, 1) }, signer))
    assert.is(other, 3, said)
    assert.match(said, /^REFUSED: .*step 6 fails, proof: it does not lead from the older checkpoint to this one/m)
    const { how, err } = await user.run('audit', 'evidence', '--trace', 'first', '--since', folder)
    assert.equal([how, err], [2, `tracebook: ${folder} is a folder.\n`])
    const [longer] = await refused(signCheckpoint({ size: 1e9, root: Buffer.alloc(32, 1) }, signer))
    assert.is(longer, 3)
  }))

test('a file made before an erasure still verifies; one made after shows the erasure and its time', () =>
  inStory(async ({ desk, world: { url, user }, base, make, check }) => {
    const token = tokenIn(user.config)
    const options = ['--key', key, '--repo', desk.root]
    const before = await make(`${base}..HEAD`)
    const from = Date.now()
    const erased = await user.run('rm', 'first', '--history', '--yes')
    assert.is(erased.how, 0, erased.err)
    await ask(url, '/v1/traces/second', { token, method: 'DELETE' })
    assert.equal((await check(before.path, ...options)).found['lines'], { checked: 5, of: 5 })

    const after = await until(async () => {
      const made = await make(`${base}..HEAD`)
      return made.file.sessions.length === 1 && made
    })
    assert.equal(typesIn(after.file), ['MessageRestated', 'HistoryErased'])
    assert.equal(
      after.file.sessions.map(({ externalId, begins }) => [externalId, begins]),
      [['first', 1]],
    )
    for (const { entry } of after.file.events) {
      const { at } = JSON.parse((JSON.parse(entry!) as string[])[3]!) as { at: number }
      assert.ok(at >= from, 'the time of the erasure, not of the writing')
    }
    assert.equal((await check(after.path, ...options)).found['lines'], { checked: 3, of: 3 })
    const said = (await desk.run('audit', 'verify', '--offline', after.path)).out
    assert.match(said, /first \(claude-code\): its past was erased \d{4}-/)
  }))

test('the receipt of a deletion is in the tree of the file, whatever came after it; only admins get it', () =>
  inStory(async ({ world, desk, base, make, check }) => {
    const { url, user } = world
    const token = tokenIn(user.config)
    const before = await make('--trace', 'first', '--hashes')
    const { traceId } = before.file.sessions[0]!
    const wrong = await user.run('audit', 'evidence', '--deleted', traceId)
    assert.is(wrong.how, 2)
    assert.match(wrong.err, `No trace with the id ${traceId} was deleted from the namespace`)
    await ask(url, '/v1/traces/first', { token, method: 'DELETE' })
    await putSession(url, user, 'later', {}, Date.now())

    const { file, path } = await make(`${base}..HEAD`, '--deleted', traceId, '--trace', 'later')
    assert.equal(
      file.deletions.map((one) => [one.traceId, typesIn(file)[one.event]]),
      [[traceId, 'TraceDeleted']],
    )
    assert.is((await check(path, '--key', key)).found['erased'], 1)
    const said = (await desk.run('audit', 'verify', '--offline', path)).out
    assert.match(said, /7\. 1 trace was deleted:\n {5}first: \d{4}-\S+ by user /)

    // The hashes of an older file say which leaves the deleted session had.
    const gone = before.file.events.map(({ index }) => index)
    const kept = file.events.map(({ index }) => index)
    assert.ok(gone.length > 0 && gone.every((index) => !kept.includes(index)))
    const receipt = await make('--deleted', traceId)
    assert.equal([receipt.file.events.length, receipt.file.sessions, receipt.file.commits], [1, [], []])
    assert.is((await check(receipt.path, '--key', key)).how, 0)
  }))

test('every line that a commit added is in a range or unknown, also of files that cannot be asked for', () =>
  inStory(async ({ desk, make, check }) => {
    desk.put('long.txt', ...Array.from({ length: 20_001 }, (_, i) => `line ${i} of a generated file`))
    desk.put('with\\backslash.txt', 'one', 'two')
    desk.put('with\nbreak "and" more.txt', 'three')
    desk.git('mv', 'src/a.ts', 'src/moved.ts')
    const sha = desk.commit(Date.now())
    const { file, path, err } = await make(sha)
    assert.match(err, 'Left out: 1 file with more than 20000 added lines, 1 file with a backslash in the name.')
    assert.equal(
      file.commits.map(({ ranges, unknown }) => [ranges, unknown.sort((a, b) => a.path.localeCompare(b.path))]),
      [
        [
          [],
          [
            { path: 'long.txt', start: 1, end: 20_001 },
            { path: 'with\nbreak "and" more.txt', start: 1, end: 1 },
            { path: 'with\\backslash.txt', start: 1, end: 2 },
          ],
        ],
      ],
    )
    assert.is((await check(path, '--key', key, '--repo', desk.root)).how, 0)
  }))

test('messages are asked for in as many requests as their size takes, and one that is too large for any is left out', () =>
  inOwnWorld(async ({ url, user, folder }) => {
    const token = tokenIn(user.config)
    const text = (n: number) => String(n).repeat(4 * 1024 * 1024)
    const say = (externalId: string, textContent: string) => {
      const messages = [{ externalId, role: 'user', textContent }]
      return ask(url, '/v1/traces/large/messages/batch', { token, method: 'POST', body: { messages } })
    }
    await ask(url, '/v1/traces/large', { token, method: 'PUT', body: {} })
    for (const [i, id] of ['a', 'b', 'c'].entries()) await say(id, text(i))
    for (const n of [3, 4]) await say('c', text(n))
    const output = join(folder, 'large.json')
    const { how, err } = await user.run('audit', 'evidence', '--trace', 'large', '--output', output)
    assert.is(how, 0, err)
    assert.match(err, 'Left out: 1 message that has more than 8 MiB in the log.')
    const file = JSON.parse(readFileSync(output, 'utf8')) as Evidence
    assert.equal(typesIn(file), ['TraceCreated', 'MessageAdded', 'MessageAdded'])
    assert.is((await user.run('audit', 'verify', '--offline', output)).how, 0)
  }))

test.run()
