import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openSyncState } from '../../../src/client/state/sync-state.ts'
import { tempFolder } from '../support/temp.ts'

const test = suite<{ path: string; remove: () => void }>('losses that were reported')

test.before.each((context) => void Object.assign(context, tempFolder()))
test.after.each(({ remove }) => remove())

test('a loss that was reported for an agent is new for another agent, but not for this one', ({ path }) => {
  const open = () => openSyncState({ folder: path, config: path })
  const state = open()
  state.noteReported('codex', ['line 1', 'line 2', 'line 1'])
  assert.equal(state.newLosses('codex', ['line 2', 'line 3']), ['line 3'])
  assert.equal(state.newLosses('pi', ['line 2']), ['line 2'])
  state.close()
  const again = open()
  assert.equal(again.newLosses('codex', ['line 1']), [])
  again.close()
})

test.run()
