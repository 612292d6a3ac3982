import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { invitePath, readTracePath, tracePath } from '../../../src/server/pages/links.ts'
import { hostileText } from '../../transcript/support/hostile.ts'

const test = suite('pages: links')
const ORIGIN = 'https://traces.example.org'

test('a link to a trace leads to that trace, whatever its id is', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        hostileText.filter((text) => text !== '' && text.isWellFormed()),
        fc.stringMatching(/^~{0,3}\.{1,3}$/),
      ),
      fc.option(hostileText, { nil: undefined }),
      (externalId, messageId) => {
        const url = URL.parse(tracePath('a-team', externalId, messageId), ORIGIN)
        assert.equal(readTracePath(url, ORIGIN), { namespace: 'a-team', externalId })
        assert.is(url!.searchParams.get('m') ?? undefined, messageId?.toWellFormed())
      },
    ),
  )
})

test('a link to an invite is one segment below /invite, whatever its code is', () => {
  assert.is(invitePath('a1B2c3D4e'), '/invite/a1B2c3D4e')
  assert.is(invitePath('a/b?c'), '/invite/a%2Fb%3Fc')
})

test('no other address leads to a trace', () => {
  for (const address of [
    'https://other.example.org/@a/x',
    `${ORIGIN}/`,
    `${ORIGIN}/@a`,
    `${ORIGIN}/@a/x/-/changes`,
    `${ORIGIN}/@a/%ff`,
    `${ORIGIN}/v1/traces`,
    'no address',
  ])
    assert.is(readTracePath(URL.parse(address), ORIGIN), undefined, address)
})

test.run()
