import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { proposalOf, slugLike } from '../../../src/client/login/new-person.ts'

const test = suite('what is proposed to a new user')

for (const [name, slug] of [
  ['ada', 'ada'],
  ['Ada Lovelace', 'ada-lovelace'],
  ['  José_María--Ñandú ', 'jose-maria-nandu'],
  ['a'.repeat(63) + '-b', 'a'.repeat(63)],
  ['x'.repeat(70), 'x'.repeat(64)],
  ['李', undefined],
  ['--', undefined],
  ['', undefined],
] as const)
  test(`the slug that is like "${name.slice(0, 30)}"`, () => assert.is(slugLike(name), slug))

test('an e-mail address is no name, and the part before the @ is one', () => {
  assert.equal(proposalOf({ login: 'ada.l@example.org' }), { name: 'ada.l', slug: 'ada-l', isTaken: true })
  assert.equal(proposalOf({ login: 'ada', name: 'Ada' }), { name: 'Ada', slug: 'ada', isTaken: true })
  assert.equal(proposalOf({ login: '' }), { name: undefined, slug: undefined, isTaken: true })
})

test.run()
