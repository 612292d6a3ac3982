import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Joining, isStillAgreed, resolveJoining } from '../../../src/server/session/joining.ts'

const test = suite('joining an account and a device')

const user = (userId: string) => ({ userId, active: undefined })
const ada = user('ada')
const [known, joins, made] = [
  resolveJoining(ada, user('eve')),
  resolveJoining(undefined, ada),
  resolveJoining(undefined, undefined),
]

test('an account has a user, joins the user of the device, or becomes a new one', () => {
  assert.equal(known, { is: 'known', userId: 'ada' })
  assert.equal(joins, { is: 'joins', userId: 'ada' })
  assert.equal(made, { is: 'new' })
})

for (const [agreed, present, expected] of [
  [known, known, true],
  [joins, joins, true],
  [made, made, true],
  [joins, known, true],
  [made, known, true],
  [made, joins, false],
  [known, joins, false],
  [known, made, false],
  [joins, made, false],
  [joins, resolveJoining(undefined, user('eve')), false],
  [known, resolveJoining(user('eve'), undefined), false],
] as const satisfies readonly (readonly [Joining, Joining, boolean])[])
  test(`${JSON.stringify(agreed)} ${expected ? 'allows' : 'does not allow'} ${JSON.stringify(present)}`, () =>
    assert.is(isStillAgreed(agreed, present), expected))

test.run()
