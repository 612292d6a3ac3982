import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Rejected, Unavailable } from '../../../src/eventstore/engine/rejected.ts'
import { newWrite } from '../../../src/eventstore/engine/write.ts'

const test = suite('engine/write')

type Step = 'asked' | 'decided' | 'visible'

/** A write with all that it does noted in order; `refuses` while writes must not be taken. */
const world = (refuses = false) => {
  const steps: Step[] = []
  const write = newWrite({
    assertWritable: () => {
      steps.push('asked')
      if (refuses) throw new Unavailable('the disk is nearly full')
    },
    visible: async (position) => {
      assert.is(position, 7n)
      steps.push('visible')
    },
  })
  const transact = async (_id: string, command: { answer(state: string, events: readonly never[]): unknown }) => {
    steps.push('decided')
    return { answer: command.answer('state', []), position: 7n }
  }
  return { steps, write, transactor: { transact } as never }
}

test('a write is decided, and answered once it can be read', async () => {
  const { steps, write, transactor } = world()
  const command = { decide: () => [], answer: (state: unknown) => `${String(state)} after` }
  assert.is(await write(transactor, 'id', command, {}), 'state after')
  assert.equal(steps, ['asked', 'decided', 'visible'])
})

test('a write without a result answers with none', async () => {
  const { write, transactor } = world()
  assert.is(await write(transactor, 'id', { decide: () => [] }, {}), undefined)
})

test('a write that is not authorized decides nothing', async () => {
  const { steps, write, transactor } = world(true)
  const failed = await write(transactor, 'id', { decide: () => [] }, {}).catch((error: unknown) => error)
  assert.instance(failed, Unavailable)
  assert.equal(steps, ['asked'])
})

const refusing = (error: Rejected) => ({ transact: () => Promise.reject(error) }) as never

test('a refusal is answered once the events that it depends on can be read', async () => {
  const { steps, write } = world()
  const refusal = Object.assign(new Rejected('not_found'), { position: 7n })
  assert.is(await write(refusing(refusal), 'id', { decide: () => [] }, {}).catch((error: unknown) => error), refusal)
  assert.equal(steps, ['asked', 'visible'])
})

test('a refusal whose events cannot be read in time becomes a timeout, and has stored nothing', async () => {
  const visible = () => Promise.reject(new Unavailable('the read models are behind', true))
  const write = newWrite({ assertWritable: () => {}, visible })
  const refusal = Object.assign(new Rejected('not_found'), { position: 7n })
  const failed = await write(refusing(refusal), 'id', { decide: () => [] }, {}).catch((error: unknown) => error)
  assert.instance(failed, Unavailable)
  assert.is((failed as Unavailable).stored, false)
})

test.run()
