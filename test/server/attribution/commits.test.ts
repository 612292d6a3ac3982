import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { newHashLine } from '../../../src/base/line-hashes.ts'
import type { CommitAnswers, OneAttributionKey, RecordedCommits } from '../../../src/contract/attribution.ts'
import { newCodec } from '../../../src/eventstore/engine/codec.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { rebuild } from '../../../src/eventstore/engine/rebuild.ts'
import { formats } from '../../../src/server/events.ts'
import { dumpSchema } from '../../support/dump-schema.ts'
import { openWorld, signIn } from '../../support/world.ts'
import { known, messagesOf, someLines, textOf } from './support/sessions.ts'

const test = suite('attribution: commits')
const { node, database } = await openWorld(test)
const [ada, bob, stranger] = [await signIn(node), await signIn(node), await signIn(node)]
const team = await ada.newTeam()
await ada.admit(team.slug, bob)
await bob.send('POST', '/v1/session/switch', { slug: team.slug })

const { key } = await ada.send<OneAttributionKey>('GET', `/v1/namespaces/${team.slug}/attribution-key`)
const hashLine = newHashLine(Buffer.from(key.secret, 'base64'))

const path = `/v1/namespaces/${team.slug}/commits`
const REPOSITORY = 'git@codehost.example:Team/App.git'
const IN_QUERY = encodeURIComponent('https://codehost.example/team/app')
const AT = Date.now() - 3_600_000

let made = 0
const newSha = () => String((made += 1)).padStart(40, '0')
const commitOf = (sha: string, lines: readonly string[], more: object = {}) => ({
  sha,
  at: AT + 60_000,
  hunks: lines.length === 0 ? [] : [{ path: 'src/a.ts', added: lines.map((line) => hashLine(line) ?? '') }],
  ...more,
})
const record = async (commits: readonly object[], by = bob) =>
  (await by.send<CommitAnswers>('POST', path, { key: key.id, repository: REPOSITORY, commits })).commits
const list = async (query = '', by = bob) => (await by.send<RecordedCommits>('GET', `${path}${query}`)).commits
const remove = (by: typeof ada, sha: string) => by.ask('DELETE', `${path}/${sha}?repository=${IN_QUERY}`)

const session = (lines: readonly string[], externalId?: string) =>
  bob.newTrace(
    { projectPath: '/home/repo' },
    messagesOf('m', AT, { tool: 'Write', args: { path: 'src/a.ts', content: textOf(lines) }, output: 'ok' }),
    externalId,
  )

test('a commit is answered, recorded and listed; an equal answer is unchanged', async () => {
  const [first, second] = [someLines(3), someLines(1)]
  const one = await session(first)
  const two = await session(second)
  await known(node)
  const commit = commitOf(newSha(), [...first, '}', ...second, 'typed by a person'])
  const lines = { total: 6, weak: 1, replaced: 0, run: 4, moved: 0, unknown: 1 }
  const traces = [
    { trace: { id: one.id, externalId: one.externalId }, lines: { replaced: 0, run: 3 } },
    { trace: { id: two.id, externalId: two.externalId }, lines: { replaced: 0, run: 1 } },
  ]
  assert.equal(await record([commit]), [{ sha: commit.sha, result: 'created', lines, traces }])
  assert.equal((await record([commit], ada))[0]!.result, 'unchanged')
  const [{ recordedAt, ...shown } = { recordedAt: 0 }] = await list()
  assert.ok(recordedAt > AT)
  const place = { repository: 'codehost.example/team/app', sha: commit.sha, at: AT + 60_000 }
  assert.equal(shown, { ...place, recordedBy: { userId: bob.userId }, lines, traces })
  const of = async (url: string) => (await bob.send<RecordedCommits>('GET', `${url}/commits`)).commits.length
  assert.equal([await of(one.url), await of(two.url)], [1, 1])
})

test('lines of a deleted trace are unknown from then on, also once it is there again', async () => {
  const lines = someLines(2)
  const { url, externalId } = await session(lines)
  await known(node)
  const commit = commitOf(newSha(), lines)
  await record([commit])
  await bob.send('DELETE', url)
  const now = async () =>
    (await list(`?sha=${commit.sha}`)).map((one) => [one.lines.run, one.lines.unknown, one.traces.length])
  assert.equal(await now(), [[0, 2, 0]])
  await session(lines, externalId)
  assert.equal(await now(), [[0, 2, 0]])
  await known(node)
  assert.is((await record([commit]))[0]!.result, 'updated')
  assert.equal(await now(), [[2, 0, 1]])
})

test('a twin by its patch takes the place, and goes with what it has replaced', async () => {
  const patchId = 'f'.repeat(40)
  const [old, twin] = [newSha(), newSha()]
  assert.is((await record([commitOf(old, [], { patchId })]))[0]!.result, 'created')
  assert.is((await record([commitOf(twin, [], { patchId })]))[0]!.result, 'updated')
  assert.equal([(await list(`?sha=${old}`)).length, (await list(`?sha=${twin}`)).length], [0, 1])
  assert.is((await remove(bob, twin)).status, 200)
  assert.equal([(await list(`?sha=${old}`)).length, (await list(`?sha=${twin}`)).length], [0, 0])
})

test('a list has filters and pages, the newest author date first', async () => {
  const shas = [newSha(), newSha(), newSha()]
  const at = Date.UTC(2020, 0, 1)
  await record(shas.map((sha, i) => commitOf(sha, [], { at: at + 1_000 * i })))
  const period = `?repository=${IN_QUERY}&from=${at}&to=${at + 3_000}`
  const all = (await list(period)).map(({ sha }) => sha)
  assert.equal(all, shas.toReversed())
  const pages: string[] = []
  for (let cursor = ''; ;) {
    const page = await bob.send<RecordedCommits>('GET', `${path}${period}&limit=2${cursor}`)
    pages.push(...page.commits.map(({ sha }) => sha))
    if (page.nextCursor === undefined) break
    cursor = `&cursor=${page.nextCursor}`
  }
  assert.equal(pages, all)
  assert.equal((await list(`?from=${at + 2_000}&to=${at + 3_000}`)).length, 1)
  assert.equal(await list('?repository=other.example/app'), [])
  assert.is((await bob.ask('GET', `${path}?cursor=nonsense`)).status, 400)
})

test('members see and record commits; who recorded one or an admin removes it', async () => {
  const [one, two] = [newSha(), newSha()]
  await record([commitOf(one, []), commitOf(two, [])])
  const body = { key: key.id, repository: REPOSITORY, commits: [commitOf(one, [])] }
  for (const [method, url, sent] of [
    ['GET', path, undefined],
    ['POST', path, body],
  ] as const) {
    const statuses = []
    for (const token of [ada.token, stranger.token, undefined])
      statuses.push((await node.call(method, url, { token, body: sent })).status)
    assert.equal(statuses, [200, 403, 401])
  }
  const removed = async (by: typeof ada, sha: string) => (await remove(by, sha)).status
  assert.equal([await removed(stranger, one), await removed(bob, one), await removed(bob, one)], [403, 200, 404])
  assert.is(await removed(ada, two), 200, 'an admin')
  await record([commitOf(one, [])], ada)
  assert.is(await removed(bob, one), 403)
})

test('commits of a public trace are for members of its namespace', async () => {
  const { url } = await bob.newTrace({ visibility: 'public' })
  const statuses = []
  for (const token of [ada.token, stranger.token, undefined])
    statuses.push((await node.call('GET', `${url}/commits`, { token })).status)
  assert.equal(statuses, [200, 403, 401])
})

test('what is no commit is refused', async () => {
  const refused = async (commits: unknown, more: object = {}, status = 400) => {
    const answer = await bob.ask('POST', path, { key: key.id, repository: REPOSITORY, commits, ...more })
    assert.is(answer.status, status, JSON.stringify({ commits, more }).slice(0, 200))
  }
  const good = commitOf(newSha(), [])
  await refused([])
  await refused(Array.from({ length: 201 }, () => good))
  await refused([{ ...good, sha: 'abc' }])
  await refused([{ ...good, at: undefined }])
  await refused([{ ...good, patchId: 'x' }])
  await refused([good], { repository: undefined })
  await refused([good], { key: 'another1' }, 409)
})

test('a rebuild makes the same rows', async () => {
  const rows = async () => {
    const { commits, commit_traces } = await dumpSchema(database.url, schemaOf(mainGroup))
    return { commits, commit_traces }
  }
  const live = await rows()
  assert.ok(live.commits!.length > 2)
  await rebuild({ url: database.url, group: mainGroup, log: node.service.log, codec: newCodec(formats) })
  assert.equal(await rows(), live)
})

test.run()
