import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { noStates } from '../../../src/client/state/session-states.ts'
import { type LiveSession, newLiveSessions } from '../../../src/client/upload/live-sessions.ts'

const states = noStates({
  add: async () => {},
  all: async () => [],
  remove: async () => {},
  noteRefused: async () => {},
})
const live = (): LiveSession => ({ reading: {}, states, known: undefined })

test('a reading is gone on with once, and only the sessions that were read last are kept', () => {
  const sessions = newLiveSessions(2)
  const [one, two, three] = [live(), live(), live()]
  sessions.keep('/1', one)
  sessions.keep('/2', two)
  sessions.keep('/1', one)
  sessions.keep('/3', three)
  assert.equal(
    [sessions.take('/2'), sessions.take('/1') === one, sessions.take('/3') === three],
    [undefined, true, true],
  )
  assert.is(sessions.take('/1'), undefined)
})

test.run()
