import * as assert from 'uvu/assert'
import { searchGroup } from '../../../projections/index.ts'
import { haveCaughtUp } from '../../../src/commands/support/read-models.ts'
import type { SearchAnswer } from '../../../src/contract/search.ts'
import { skipStreamOf } from '../../../src/eventstore/engine/skip-events.ts'
import {
  allow,
  append,
  call,
  eventsOf,
  headOf,
  isInQuarantine,
  poison,
  positionOf,
  quarantineSuite,
  streamOf,
  textsOf,
  tracebook,
} from '../support/quarantined.ts'
import { until } from '../../support/until.ts'

const test = quarantineSuite('tracebook log quarantine, replay and skip')

test('list what is in quarantine, for people and for programs; the rest is served', async (scene) => {
  const nothing = await tracebook(scene, 'log', 'quarantine')
  assert.equal(nothing, { how: 0, out: 'No stream is in quarantine.\n', err: '' })

  await call(scene, 'PUT', 'good', {})
  await call(scene, 'PUT', 'worse', {})
  const stream = await poison(scene, 'bad')
  const position = await append(scene, streamOf(scene, 'worse'), 'Exploded', {})
  await until(() => isInQuarantine(scene, 'worse'))
  for (const trace of ['bad', 'worse'])
    for (const [method, path, body] of [
      ['GET', trace, undefined],
      ['PUT', trace, { title: 'x' }],
      ['PUT', `${trace}/messages/n`, { role: 'user' }],
    ] as const) {
      const { status, error } = await call(scene, method, path, body)
      assert.is(status, 503)
      assert.match(error.message, 'is in quarantine')
    }
  assert.is((await call(scene, 'PUT', 'good', { title: 'x' })).status, 200)

  const found = await tracebook(scene, 'log', 'quarantine')
  assert.equal([found.how, found.err], [3, ''])
  assert.match(found.out, new RegExp(`${stream}  since \\w{3} \\d+, 20`))
  assert.match(found.out, /event MessageAdded at position \d+ \(revision \d+\): it violates no_bad/)
  assert.match(found.out, `event Exploded at position ${position}`)
  const { how, out } = await tracebook(scene, 'log', 'quarantine', '--json')
  assert.is(how, 3)
  const documents = out.trimEnd().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>) // prettier-ignore
  assert.equal(
    documents
      .filter(({ group }) => group === 'main')
      .map(({ group, stream, type, reason }) => ({ group, stream, type, reason })),
    [
      { group: 'main', stream, type: 'MessageAdded', reason: 'it violates no_bad' },
      { group: 'main', stream: streamOf(scene, 'worse'), type: 'Exploded', reason: 'unknown event type Exploded' },
    ],
  )
  assert.is(documents[1]!.position, `${position}`)
})

test('replay a stream once the cause is mended: all of it is served again, later events too', async (scene) => {
  const stream = await poison(scene, 'mended')
  const early = await tracebook(scene, 'log', 'replay', stream)
  assert.is(early.how, 3)
  assert.match(early.err, `${stream} stays in quarantine`)
  assert.match(early.err, 'it violates no_mended')
  assert.ok(await isInQuarantine(scene, 'mended'))

  assert.ok(await haveCaughtUp(scene.database.url, [searchGroup], await headOf(scene)))
  await allow(scene, 'mended')
  const { how, out, err } = await tracebook(scene, 'log', 'replay', stream)
  assert.equal([how, err], [0, ''])
  assert.match(out, `The rows of ${stream} were rebuilt`)
  await until(async () => !(await isInQuarantine(scene, 'mended')))
  const { data } = await call(scene, 'GET', 'mended')
  assert.is((data as { trace: { title: string } }).trace.title, 'Later')
  assert.equal(await textsOf(scene, 'mended'), ['one', 'two'])
  const find = () => scene.service.call('GET', '/v1/search?q=two', { token: scene.token })
  await until(async () => ((await find()).data as SearchAnswer | undefined)?.results.length === 1)
  const put = await call(scene, 'PUT', 'mended/messages/n', { role: 'user', textContent: 'three' })
  assert.is(put.status, 200)
  assert.equal(await textsOf(scene, 'mended'), ['one', 'two', 'three'])
})

test('skip an event for good, with who and why in the log, also after a rebuild', async (scene) => {
  const stream = await poison(scene, 'skipped')
  const position = await positionOf(scene, stream)
  const words = ['log', 'skip', '--position', position, '--why', 'cats are not stored', '--by', 'Ada']
  const { how, out, err } = await tracebook(scene, ...words)
  assert.equal([how, err], [0, ''])
  assert.match(out, `MessageAdded at position ${position} is skipped for good.`)
  assert.match(out, 'were rebuilt')
  const decisions = await eventsOf(scene, skipStreamOf(stream))
  assert.is(decisions.length, 1)
  assert.is(decisions[0]!.type, 'EventSkipped')
  const { by, why, stream: of } = JSON.parse(decisions[0]!.data) as Record<string, string>
  assert.equal({ by, why, of }, { by: 'Ada', why: 'cats are not stored', of: stream })

  await until(async () => !(await isInQuarantine(scene, 'skipped')))
  assert.equal(await textsOf(scene, 'skipped'), ['one'])
  assert.is((await tracebook(scene, 'rebuild')).how, 0)
  assert.equal(await textsOf(scene, 'skipped'), ['one'])
  const put = await call(scene, 'PUT', 'skipped/messages/n', { role: 'user', textContent: 'two' })
  assert.is(put.status, 200)
})

test('skip one of two bad events of a stream: it stays in quarantine for the other', async (scene) => {
  const stream = await poison(scene, 'twice')
  const next = await append(scene, stream, 'Exploded', {})
  const position = await positionOf(scene, stream)
  const first = await tracebook(scene, 'log', 'skip', '--position', position, '--why', 'a test')
  assert.is(first.how, 3)
  assert.match(first.out, 'is skipped for good')
  assert.match(first.err, `event Exploded at position ${next}`)
  assert.is((await tracebook(scene, 'log', 'skip', '--position', `${next}`, '--why', 'a test')).how, 0)
  await until(async () => !(await isInQuarantine(scene, 'twice')))
})

test.run()
