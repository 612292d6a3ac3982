import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newInviteCode } from '../../../src/server/namespace/invite-code.ts'

const test = suite('invite codes')

test('codes are nine letters and digits, and each letter and digit occurs', () => {
  const all = Array.from({ length: 2_000 }, newInviteCode)
  for (const code of all) assert.match(code, /^[A-Za-z0-9]{9}$/)
  assert.is(new Set(all).size, all.length)
  assert.is(new Set(all.join('')).size, 62)
})

test.run()
