import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { NamespaceEvent } from '../../../src/server/namespace/events.ts'
import { histories } from './histories.ts'

const test = suite('namespace invariants')

test('whatever is tried, an admin is left and no invite is used more often than allowed', () => {
  fc.assert(
    fc.property(histories, (steps) => {
      for (const { after } of steps.slice(1)) {
        assert.ok(
          [...after.members.values()].some(({ role }) => role === 'admin'),
          'no admin is left',
        )
        for (const { maxUses = 1, useCount } of after.invites.values()) assert.ok(maxUses === 0 || useCount <= maxUses)
      }
    }),
    { numRuns: 300 },
  )
})

test('histories reach every type of event', () => {
  const types = new Set(fc.sample(histories, 300).flatMap((steps) => steps.map(({ event }) => event.type)))
  for (const { shape } of NamespaceEvent.options) assert.ok(types.has(shape.type.value), shape.type.value)
})

test.run()
