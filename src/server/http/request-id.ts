import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

const FORM = /^[\w.:-]{1,100}$/

/** The id of a request that has none of its own. */
export const newRequestId = (): string => randomUUID()

/** The id that a request brings along, if it can be one; otherwise a new one. */
export const requestIdOf = ({ headers }: Pick<IncomingMessage, 'headers'>): string => {
  const given = headers['x-request-id']
  return typeof given === 'string' && FORM.test(given) ? given : newRequestId()
}
