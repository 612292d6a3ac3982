import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { acceptedId, isExternalId, newMessageIds } from '../../../../src/client/agents/support/external-ids.ts'

const test = suite('externalIds')

const idsOf = (...wanted: readonly unknown[]): readonly string[] => {
  const idOf = newMessageIds()
  return wanted.map((id) => idOf(id, `{"id":${JSON.stringify(id)}}`))
}

test('an id is used unchanged, and gets a number when it is repeated', () => {
  assert.equal(idsOf('a', 'b', 'a', 'a'), ['a', 'b', 'a-2', 'a-3'])
})

test('a numbered id never equals the id of another message', () => {
  assert.equal(idsOf('a', 'a-2', 'a', 'a-2', 'a'), ['a', 'a-2', 'a-3', 'a-2-2', 'a-4'])
})

test('a line without a valid id gets an id made from its text, distinct even if the text is repeated', () => {
  const [none, empty, again, nul] = idsOf(undefined, '', '', '\0')
  for (const id of [none, empty, again, nul]) assert.match(id!, /^line-/)
  assert.is(again, `${empty}-2`)
})

test('later lines do not change earlier ids', () => {
  const ids = ['a', undefined, 'a', 'a-2', undefined, '', 'a']
  for (let length = 0; length <= ids.length; length++)
    assert.equal(idsOf(...ids.slice(0, length)), idsOf(...ids).slice(0, length))
})

test('a long id that is repeated still gets an id that the service accepts', () => {
  const ids = idsOf(...Array.from({ length: 3 }, () => 'x'.repeat(1_024)))
  assert.is(new Set(ids).size, 3)
  assert.ok(ids.every(isExternalId))
})

test('an id is unchanged, or replaced with a hash if the service would reject it', () => {
  assert.is(acceptedId('s-1', 'session'), 's-1')
  assert.match(acceptedId('..', 'session'), /^session-/)
  assert.match(acceptedId('', 'message'), /^message-/)
})

test.run()
