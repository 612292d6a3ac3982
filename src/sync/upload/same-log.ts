import { RequestFailed } from '../api/errors.ts'
import type { Destination } from './destination.ts'

/** The service has another log than the one that was sent to: what was sent is not known to it. */
export class LogReplaced extends Error {
  override readonly name = 'LogReplaced'
  constructor() {
    super('the service has lost what was sent to it, or is another one')
  }
}

/**
 * Called where a trace that was stored is not there: with the same log it was deleted. Throws LogReplaced with another one, and
 * RequestFailed, also when the service does not know yet which log it has.
 */
export const requireSameLog = async ({ connection, states }: Destination): Promise<void> => {
  const [known, { logId }] = [states.logId(), await connection.api.session()]
  if (known === undefined || known === logId) return
  if (logId === undefined) throw new RequestFailed('the service does not say yet which log it has', { status: 503 })
  throw new LogReplaced()
}
