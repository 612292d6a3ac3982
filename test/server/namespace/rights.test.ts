import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { effectOf } from '../../../src/server/effects.ts'
import type { DecodedEvent } from '../../../src/eventstore/engine/projection.ts'
import type { PresentNamespace } from '../../../src/server/namespace/decide.ts'
import { histories, people } from './histories.ts'

const test = suite('rights in a namespace: what events say of them')

const rightsOf = (state: PresentNamespace | undefined, userId: string) => state?.members.get(userId)?.role

test('an event that changes a role names the user whose cache entries and answers it ends', () => {
  fc.assert(
    fc.property(histories, (steps) => {
      let before: PresentNamespace | undefined
      for (const { event, after } of steps) {
        const effect = effectOf({ ...event, streamId: 'space' } as DecodedEvent)
        for (const userId of people) {
          const [had, has] = [rightsOf(before, userId), rightsOf(after, userId)]
          if (had !== undefined && had !== has) assert.is(effect.takesRight, has === undefined, event.type)
          if (had !== has) assert.is(effect.callers, userId, event.type)
          if (had !== has) for (const topic of ['space', userId]) assert.ok(effect.topics.includes(topic), event.type)
        }
        before = after
      }
    }),
    { numRuns: 300 },
  )
})

test.run()
