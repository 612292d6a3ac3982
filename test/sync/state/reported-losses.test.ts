import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { STATE_FILE } from '../../../src/sync/state/state-file.ts'
import { openSyncState } from '../../../src/sync/state/sync-state.ts'
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

test('the state of a version that did not record reported losses is migrated', ({ path }) => {
  const first = openSyncState({ folder: path, config: path })
  first.noteOrigin('/a', { stamp: 's', projectPath: '/p' })
  first.close()
  const older = new DatabaseSync(join(path, STATE_FILE))
  older.exec('DROP TABLE told; DROP TABLE claim; DROP TABLE last_write; DROP TABLE source; DROP TABLE session')
  older.exec(
    'CREATE TABLE session (id INTEGER PRIMARY KEY, destination INTEGER, source TEXT, stamp TEXT, session TEXT, trace TEXT, ' +
      'stored INTEGER, fields TEXT, resume TEXT); PRAGMA user_version = 1',
  )
  older.close()
  const state = openSyncState({ folder: path, config: path })
  assert.equal(state.originOf('/a'), { stamp: 's', projectPath: '/p' })
  assert.equal(state.newLosses('codex', ['line 1']), ['line 1'])
  state.close()
})

test.run()
