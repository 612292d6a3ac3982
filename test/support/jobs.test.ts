import { globSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Job, type Part, jobsOf } from './jobs.ts'
import { namedInVain, testFiles } from './test-file.ts'

const test = suite('which tests run')
const root = join(import.meta.dirname, '..', '..')
const all = globSync('test/**/*.test.ts', { cwd: root }).sort()
const of = (part: Part, ...filters: string[]) => jobsOf(root, { part, filters })
const filesOf = (jobs: readonly Job[]) => jobs.flatMap(({ files, log }) => (log === 'Postgres' ? files : [])).sort()
const find = (path: string) => testFiles(root, [path])[0]!

test('each file runs once over Postgres, in one of two parts', () => {
  assert.equal(filesOf(of('all')), all)
  assert.equal(filesOf([...of('quick'), ...of('rest')]), all)
})

test('imports say what a file needs', () => {
  const { isPure, needsDatabase, rank } = find('test/base/json/exact')
  assert.equal({ isPure, needsDatabase, rank }, { isPure: true, needsDatabase: false, rank: 0 })
  const routes = find('test/session/routes')
  assert.equal([routes.isPure, routes.needsDatabase, routes.touchesLog, routes.rank], [false, true, true, 0])
  assert.equal([find('test/models/source').isPure, find('test/models/source').needsDatabase], [false, false])
  assert.is(find('test/commands/serve').rank, 1)
})

test('files that are named for what they do are there', () => assert.equal(namedInVain(all), []))

test('short files share processes, long ones and those that look at their memory do not', () => {
  const jobs = of('quick')
  const beside = (path: string) => jobs.find(({ files }) => files.includes(`test/${path}.test.ts`))!.files.length
  assert.ok(beside('session/routes') > 1)
  assert.is(beside('trace/long-lists'), 1)
  assert.is(beside('log/eventstoredb/shared-reads'), 1)
  assert.is(
    jobs.find(({ files }) => files.length > 1 && files.some((file) => find(file).rank > 0)),
    undefined,
  )
})

test('pure files share a process, and need no database', () => {
  const [job, ...others] = of('pure')
  assert.ok(job!.files.length > 40)
  assert.equal(others, [])
  assert.equal(job!.needsDatabase, false)
})

test('a path chooses files of all parts', () => {
  assert.equal(filesOf(of('quick', 'commands/serve', 'json/exact')), [
    'test/base/json/exact.test.ts',
    'test/commands/serve.test.ts',
  ])
})

test.run()
