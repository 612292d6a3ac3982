import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Changes, messageUpdated } from '../../../projections/search/changes.ts'

const test = suite('what events change in the search index')

const touched = (...paths: string[]): number[] => {
  const changes: Changes = new Map()
  const patch = paths.map((path) => ({ op: 'replace', path, value: 1 }))
  messageUpdated(changes, { streamId: 'trace-1', data: { ordinal: 3, patch } } as never)
  return [...changes.values()].flatMap(({ docs }) => [...docs.keys()])
}

test('a message is indexed again if its texts or its time change, not if only its order does', () => {
  assert.equal(touched('/order'), [])
  for (const path of ['/textContent', '/parts/0', '/model', '/timestamp']) assert.equal(touched(path, '/order'), [3])
})

test.run()
