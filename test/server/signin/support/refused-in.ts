import * as assert from 'uvu/assert'
import type { EventLog } from '../../../../src/eventstore/log/log.ts'
import type { FormBrowser } from '../../../support/form-browser.ts'
import { typesSince } from '../../../support/types-since.ts'

/** What a form answers that is refused: nothing is stored in this log, and nobody is signed in. */
export const refusedIn = (log: EventLog) => async (send: () => ReturnType<FormBrowser['post']>) => {
  const before = await log.head()
  const { statusCode, body, headers } = await send()
  assert.equal(await typesSince(log, before), [])
  assert.not.match(String(headers['set-cookie']), /tracebook=tb_/)
  return { status: statusCode, body }
}
