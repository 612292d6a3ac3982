import { globSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Part, jobsOf, readShard } from './jobs.ts'
import { ONLY_NAMED, namedInVain, testFiles } from './test-file.ts'

const test = suite('which tests run')
const root = join(import.meta.dirname, '..', '..')
const all = globSync('test/**/*.test.ts', { cwd: root }).sort()
const of = (part: Part, ...filters: string[]) => jobsOf(root, { part, filters }).filter(({ log }) => log === 'Postgres')
const filesOf = (part: Part, ...filters: string[]) => of(part, ...filters).map(({ file }) => file)
const files = testFiles(root, [])
const find = (path: string) => files.find(({ file }) => file === `test/${path}.test.ts`)!

test('each file runs once on Postgres, in one of two parts, but for those that run only when they are named', () => {
  const usual = all.filter((file) => !file.startsWith(ONLY_NAMED))
  assert.equal(filesOf('all').sort(), usual)
  assert.equal([...filesOf('quick'), ...filesOf('rest')].sort(), usual)
  assert.equal(
    filesOf('quick', ONLY_NAMED),
    all.filter((file) => file.startsWith(ONLY_NAMED)),
  )
})

test('each file of a part is in exactly one of its shards', () => {
  const shards = ['1/3', '2/3', '3/3'].map(readShard)
  const named = shards.flatMap((shard) => jobsOf(root, { part: 'rest', filters: [], shard }).map(({ name }) => name))
  assert.equal(
    named.sort(),
    jobsOf(root, { part: 'rest', filters: [] })
      .map(({ name }) => name)
      .sort(),
  )
  for (const text of ['0/3', '4/3', 'a third']) assert.throws(() => readShard(text), /--shard is K\/N/)
})

test('the imports of a file determine what it needs', () => {
  const { isPure, needsDatabase, isQuick } = find('base/json/exact')
  assert.equal({ isPure, needsDatabase, isQuick }, { isPure: true, needsDatabase: false, isQuick: true })
  const routes = find('server/session/routes')
  assert.equal([routes.isPure, routes.needsDatabase, routes.touchesLog, routes.isQuick], [false, true, true, true])
  assert.equal([find('server/models/source').isPure, find('server/models/source').needsDatabase], [false, false])
  assert.is(find('commands/serve').isQuick, false)
})

test('each file that the runner names exists', () => assert.equal(namedInVain(all), []))

test('a file that looks at its memory shares no process', () => {
  assert.is(find('eventstore/log/eventstoredb/shared-reads').isAlone, true)
  assert.is(find('server/session/routes').isAlone, false)
})

test('pure files need no database', () => {
  const pure = of('pure')
  assert.ok(pure.length > 40)
  assert.not(pure.some(({ needsDatabase }) => needsDatabase))
})

test('a run with --times has only the files that repeat', () => {
  const repeated = jobsOf(root, { part: 'all', repeated: true, filters: [], log: 'both' }).map(({ name }) => name)
  for (const path of ['eventstore/engine/lost-updates', 'fault/history', 'base/json/count-values'])
    assert.ok(repeated.includes(`test/${path}.test.ts`), path)
  assert.ok(repeated.includes('test/fault/history.test.ts on EventStoreDB'))
  assert.not(repeated.includes('test/server/session/routes.test.ts'))
})

test('a path on the command line chooses files of all parts', () =>
  assert.equal(filesOf('quick', 'commands/serve', 'base/json/exact').sort(), [
    'test/base/json/exact.test.ts',
    'test/commands/serve.test.ts',
  ]))

test('with --quick they are only those of npm test', () => {
  const jobs = jobsOf(root, { part: 'quick', filters: ['commands/serve', 'base/json/exact'], quick: true })
  assert.equal(
    jobs.map(({ file }) => file),
    ['test/base/json/exact.test.ts'],
  )
})

test.run()
