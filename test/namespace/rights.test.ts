import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { effectOf } from '../../src/effects.ts'
import type { DecodedEvent } from '../../src/engine/projection.ts'
import type { PresentNamespace } from '../../src/namespace/decide.ts'
import { histories, people } from './histories.ts'

const test = suite('rights in a namespace: what events say of them')

const rightsOf = (state: PresentNamespace | undefined, userId: string) => state?.members.get(userId)?.role

test('an event that changes a role names the user whose cache entries, answers and open lists it ends', () => {
  fc.assert(
    fc.property(histories, (steps) => {
      let before: PresentNamespace | undefined
      for (const { event, after } of steps) {
        const effect = effectOf({ ...event, streamId: 'space' } as DecodedEvent)
        for (const userId of people) {
          const [had, has] = [rightsOf(before, userId), rightsOf(after, userId)]
          const caller = { userId, identityId: 'i', sessionId: 's', expiresAt: undefined }
          const reader = { caller, namespaceId: 'space', traceId: undefined, isMember: true }
          if (had !== has) assert.is(effect.callers, userId, event.type)
          if (had !== has) for (const topic of ['space', userId]) assert.ok(effect.topics.includes(topic), event.type)
          const ends = effect.ends?.({ reader, shows: () => false }) ?? false
          if (had !== undefined) assert.is(ends, has === undefined, event.type)
        }
        before = after
      }
    }),
    { numRuns: 300 },
  )
})

test.run()
