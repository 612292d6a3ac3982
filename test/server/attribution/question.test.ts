import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { attributionGroup } from '../../../projections/index.ts'
import { newHashLine } from '../../../src/base/line-hashes.ts'
import type { Attributions, OneAttributionKey } from '../../../src/contract/attribution.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { onServer, withConnection } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { WITH_WORKER, openWorld, signIn } from '../../support/world.ts'
import { known, messagesOf, someLines, textOf } from './support/sessions.ts'

const test = suite('attribution: question')
const { node, openNode, database } = await openWorld(test, { env: WITH_WORKER })
const [ada, bob, stranger] = [await signIn(node), await signIn(node), await signIn(node)]
const team = await ada.newTeam()
await ada.admit(team.slug, bob)
await ada.send('POST', '/v1/session/switch', { slug: team.slug })
await bob.send('POST', '/v1/session/switch', { slug: team.slug })

const keyOf = (by = ada, slug = team.slug) =>
  by.send<OneAttributionKey>('GET', `/v1/namespaces/${slug}/attribution-key`)
const { key } = await keyOf()
const hashLine = newHashLine(Buffer.from(key.secret, 'base64'))
const hashes = (lines: readonly string[]) => lines.map((line) => hashLine(line) ?? '')

const schema = schemaOf(attributionGroup)
const AT = Date.now() - 3_600_000
const path = `/v1/namespaces/${team.slug}/attributions`
const bodyOf = (added: readonly string[], more: object = {}) => ({
  key: key.id,
  hunks: [{ path: 'src/a.ts', at: AT + 60_000, added: hashes(added), ...more }],
})
const ask = (added: readonly string[], more?: object, by = ada) =>
  by.send<Attributions>('POST', path, bodyOf(added, more))
const seen = ({ hunks }: Attributions) =>
  hunks[0]!.ranges.map(({ start, end, evidence, trace, callId }) => [start, end, evidence, trace.externalId, callId])

const edit = (name: string, lines: readonly string[], args: object = {}, at = AT) =>
  messagesOf(name, at, {
    tool: 'Edit',
    args: { file_path: '/home/repo/src/a.ts', old_string: 'x', new_string: textOf(lines), ...args },
    output: 'ok',
  })

test('a member gets the key, which stays the same; others are refused', async () => {
  assert.match(key.secret, /^[A-Za-z0-9+/]{43}=$/)
  assert.equal(await keyOf(bob), { key })
  assert.is.not((await keyOf(stranger, stranger.namespaceSlug)).key.id, key.id)
  for (const [method, url] of [
    ['GET', `/v1/namespaces/${team.slug}/attribution-key`],
    ['POST', path],
  ] as const) {
    const body = method === 'POST' ? bodyOf(['return xyz']) : undefined
    const statuses = []
    for (const token of [bob.token, stranger.token, undefined])
      statuses.push((await node.call(method, url, { token, body })).status)
    assert.equal(statuses, [200, 403, 401])
  }
  assert.is((await ada.ask('POST', '/v1/namespaces/nobody-has-this/attributions', bodyOf(['a']))).status, 404)
})

test('as many lines as the contract allows are answered, and no more', async () => {
  const hunks = Array.from({ length: 500 }, (_, i) => ({
    ...{ path: 'src/a.ts', previousPath: 'b.ts', at: AT, until: AT, start: 10 * i + 1 },
    added: hashes(someLines(8)),
    removed: hashes(someLines(2)),
  }))
  const { lines } = await ada.send<Attributions>('POST', path, { key: key.id, hunks })
  assert.equal([lines.total, lines.unknown], [4_000, 4_000])
  assert.is((await ada.ask('POST', path, { key: key.id, hunks: [...hunks, hunks[0]] })).status, 400)
})

test('two nodes that need a key at once have the same one', async () => {
  const other = await openNode()
  const { slug } = await ada.newTeam()
  const url = `/v1/namespaces/${slug}/attribution-key`
  const answers = await Promise.all([node, other, node, other].map((one) => one.call('GET', url, { token: ada.token })))
  assert.is(new Set(answers.map(({ data }) => JSON.stringify(data))).size, 1)
})

test('a colleague’s lines are found, with who, where and when', async () => {
  const lines = someLines(2)
  const { id, externalId } = await ada.newTrace(
    { agentId: 'claude-code', title: 'A title', model: 'gpt-5', projectPath: '/home/repo' },
    edit('m', lines),
  )
  await known(node)
  const { hunks, lines: counts, indexedThrough } = await ask([...lines, '}', 'typed by a person'], { start: 7 }, bob)
  assert.equal(hunks, [
    {
      ranges: [
        {
          ...{ start: 7, end: 8, evidence: 'run', callId: 'call-m', model: 'gpt-5', at: AT },
          trace: { id, externalId, agentId: 'claude-code', title: 'A title' },
          message: { externalId: 'm' },
          author: { id: ada.userId },
        },
      ],
      unknown: [[9, 10]],
    },
  ])
  assert.equal(counts, { total: 4, weak: 1, replaced: 0, run: 2, moved: 0, unknown: 1 })
  assert.ok(indexedThrough > AT && indexedThrough <= Date.now())
})

test('a call with an unusual id is named by it', async () => {
  const [lines, callId] = [someLines(1), 'an id, with a space']
  const { externalId } = await ada.newTrace({ projectPath: '/home/repo' }, [
    {
      externalId: 'm',
      role: 'assistant',
      timestamp: AT,
      parts: [
        {
          type: 'tool_call',
          content: { callId, toolName: 'Write', args: { path: 'src/a.ts', content: textOf(lines) } },
        },
      ],
    },
  ])
  await known(node)
  assert.equal(seen(await ask(lines)), [[1, 1, 'run', externalId, callId]])
})

test('a copy of a call that lacks what was shown before the first one has no line more than that', async () => {
  const [old, written] = [someLines(1), someLines(1)]
  const args = { file_path: '/home/repo/src/a.ts', content: textOf([...old, ...written]) }
  const write = (tool: string, args: object) =>
    messagesOf('w', AT, { callId: `whole-${old[0]}`, tool, args, output: 'ok' })
  const read = { tool: 'Read', args: { file_path: args.file_path }, output: textOf(old) }
  const project = { projectPath: '/home/repo' }
  const { externalId } = await ada.newTrace(project, [...messagesOf('r', AT, read), ...write('Write', args)])
  await bob.newTrace(project, write('Write', { content: args.content, file_path: args.file_path }))
  await known(node)
  assert.equal(seen(await ask(old)), [])
  assert.equal(seen(await ask([...old, ...written])), [[2, 2, 'run', externalId, `whole-${old[0]}`]])
  await ada.send('DELETE', `/v1/traces/${externalId}`)
  await known(node)
  assert.is((await ask([...old, ...written])).lines.run, 2)
})

test('a call that failed wrote nothing, also if its result comes later', async () => {
  const lines = someLines(2)
  const { url, externalId } = await ada.newTrace({ projectPath: '/home/repo' }, edit('m', lines).slice(0, 1))
  await known(node)
  assert.equal(seen(await ask(lines)), [[1, 2, 'run', externalId, 'call-m']])
  const content = { callId: 'call-m', toolName: 'Edit', output: 'no', status: 'error' }
  await ada.send('PUT', `${url}/messages/r`, { role: 'user', parts: [{ type: 'tool_result', content }] })
  await known(node)
  assert.equal(seen(await ask(lines)), [])
})

test('a line that very many calls wrote proves nothing by itself, and does not cut a stretch', async () => {
  const [common] = someLines(1)
  const messages = Array.from({ length: 150 }, (_, i) =>
    edit(`m${i}`, [common!], { file_path: `/home/repo/${i}.ts` }),
  ).flat()
  await ada.newTrace({ projectPath: '/home/repo' }, messages)
  const own = someLines(2)
  const lines = [own[0]!, common!, own[1]!]
  const { externalId } = await ada.newTrace({ projectPath: '/home/repo' }, edit('m', lines))
  await known(node)
  assert.equal(seen(await ask(lines)), [[1, 3, 'run', externalId, 'call-m']])
  assert.equal(seen(await ask([common!])), [])
})

test('a line that a thousand calls wrote into other files is found in its own, in each question', async () => {
  const [common] = someLines(1)
  const own = someLines(2)
  const lines = [own[0]!, common!, own[1]!]
  const files = Array.from({ length: 1_000 }, (_, i) => `*** Add File: /home/repo/${i}.ts\n+${common}\n`)
  const args = { input: `*** Begin Patch\n${files.join('')}*** End Patch` }
  await ada.newTrace({ projectPath: '/home/repo' }, messagesOf('m', AT, { tool: 'apply_patch', args, output: 'ok' }))
  const { externalId } = await ada.newTrace({ projectPath: '/home/repo' }, edit('m', lines))
  await known(node)
  for (const time of ['first', 'second'])
    assert.equal(seen(await ask(lines)), [[1, 3, 'run', externalId, 'call-m']], time)
})

test('what the question may not have is refused, with the key first', async () => {
  const refused = async (body: object, status = 400) =>
    assert.is((await ada.ask('POST', path, body)).status, status, JSON.stringify(body).slice(0, 200))
  const [good] = bodyOf(['return xyz']).hunks
  await refused({ key: 'another1', hunks: [good] }, 409)
  for (const hunk of [
    { ...good, added: [] },
    { ...good, added: ['xyz'] },
    { ...good, start: 0 },
    { ...good, at: 'today' },
  ])
    await refused({ key: key.id, hunks: [hunk] })
  for (const bad of ['', '/a', 'a\\b', 'a/../b', 'a\u0000', 'a'.repeat(4_097)]) {
    await refused({ key: key.id, hunks: [{ ...good, path: bad }] })
    await refused({ key: key.id, hunks: [{ ...good, previousPath: bad }] })
  }
  await refused({ key: key.id, hunks: Array.from({ length: 501 }, () => good) })
  await refused({ key: key.id, hunks: [{ ...good, added: Array(3_000).fill(''), removed: Array(2_001).fill('') }] })
  await refused({ key: key.id, hunks: [], repositories: Array(9).fill('a') })
  await refused({ key: key.id, hunks: [], without: Array(101).fill('a') })
  assert.equal((await ada.send<Attributions>('POST', path, { key: key.id, hunks: [] })).hunks, [])
})

test('no line’s text is in a table, and nothing of a deleted trace', async () => {
  const { id, url } = await ada.newTrace({ projectPath: '/home/repo' }, edit('m', ['const planted = 12345']))
  await known(node)
  const rows = () =>
    node.service.attributions.snapshot((read) =>
      read<{ text: string }>('', 'select w::text as text from written_files w where trace_id = $1', [id]),
    )
  assert.is((await rows()).length, 1)
  assert.not.match((await rows())[0]!.text, /planted/)
  await ada.send('DELETE', url)
  assert.equal(seen(await ask(['const planted = 12345'])), [])
  await known(node)
  assert.equal(await rows(), [])
})

test('what a call no longer says is gone once its past is erased', async () => {
  const [old, fresh] = [someLines(2), someLines(2)]
  const { url } = await ada.newTrace({ projectPath: '/home/repo' }, edit('m', old))
  await ada.send('POST', `${url}/messages/batch`, { messages: edit('m', fresh) })
  await ada.send('POST', `${url}/history/erase`, {})
  await until(async () => (await onServer(database.url, 'select from tracebook.erasures')).rows.length === 0)
  const { rows } = await onServer(database.url, `select array_agg(w)::text as text from ${schema}.written_files w`)
  assert.equal(seen(await ask(old)), [])
  assert.equal(
    seen(await ask(fresh)).map(([start, end]) => [start, end]),
    [[1, 2]],
  )
  const stored = (lines: readonly string[]) =>
    hashes(lines).filter((hash) => String(rows[0]!.text).includes(String(BigInt.asIntN(64, BigInt(`0x${hash}`)))))
  assert.equal([stored(old).length, stored(fresh).length], [0, 2])
})

test('a session that moved answers where it is now, by the key of that namespace', async () => {
  const lines = someLines(2)
  const { url } = await ada.newTrace({ projectPath: '/home/repo' }, edit('m', lines))
  await known(node)
  await ada.send('POST', `${url}/move`, { namespace: ada.namespaceSlug })
  assert.equal(seen(await ask(lines)), [])
  await known(node)
  const { key: own } = await keyOf(ada, ada.namespaceSlug)
  const hashOfOwn = newHashLine(Buffer.from(own.secret, 'base64'))
  const hunks = [{ path: 'src/a.ts', at: AT + 60_000, added: lines.map((line) => hashOfOwn(line)!) }]
  const there = `/v1/namespaces/${ada.namespaceSlug}/attributions`
  const found = await ada.send<Attributions>('POST', there, { key: own.id, hunks })
  assert.equal(
    seen(found).map(([start, end]) => [start, end]),
    [[1, 2]],
  )
})

test('an answer that takes longer than two seconds is refused, and others are given', async () => {
  await withConnection(database.url, async (client) => {
    await client.query(`begin; lock table ${schema}.written_files`)
    const payload = bodyOf(someLines(1))
    const question = { method: 'POST', url: path, headers: ada.headers, payload } as const
    const { statusCode, headers } = await node.unrepeated(() => node.app.inject(question))
    assert.equal([statusCode, Number(headers['retry-after']) > 0], [503, true])
    assert.is((await ada.ask('GET', '/v1/feed')).status, 200)
    await client.query('rollback')
  })
  assert.equal(seen(await ask(someLines(1))), [])
})

test('a key that is lost is made anew, and a question with the old one is refused', async () => {
  const [slug, lines] = [stranger.namespaceSlug, someLines(1)]
  const { key: old } = await keyOf(stranger, slug)
  await stranger.newTrace({ projectPath: '/home/repo' }, edit('m', lines))
  await known(node)
  await withConnection(database.url, (client) => client.query('delete from tracebook.attribution_keys'))
  const { key: fresh } = await keyOf(stranger, slug)
  assert.is.not(fresh.id, old.id)
  const asked = (id: string) => stranger.ask('POST', `/v1/namespaces/${slug}/attributions`, { key: id, hunks: [] })
  assert.equal([(await asked(old.id)).status, (await asked(fresh.id)).status], [409, 200])
  await stranger.newTrace({}, edit('m', someLines(1)))
  await known(node)
  const added = lines.map((line) => newHashLine(Buffer.from(fresh.secret, 'base64'))(line)!)
  const answer = await stranger.send<Attributions>('POST', `/v1/namespaces/${slug}/attributions`, {
    key: fresh.id,
    hunks: [{ path: 'src/a.ts', at: AT, added }],
  })
  assert.equal(seen(answer).length, 1, 'what was known of the lines is made anew with it')
})

test.run()
