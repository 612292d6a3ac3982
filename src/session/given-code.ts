import type { FastifyRequest } from 'fastify'
import { type AttemptOptions, newAttempt } from '../http/attempt.ts'
import { noteRefusal } from '../http/refusals.ts'
import type { GivenCode } from './redeem.ts'

/** The one-time code of a request. A made-up one counts against the limit for requests without a valid token. */
export const givenCode = (options: AttemptOptions, request: FastifyRequest, code: string): GivenCode => {
  const attempt = newAttempt(options, request.ip)
  const limited: GivenCode['limited'] = async (lookUp) => {
    const found = await attempt.resultOf(lookUp)
    if (!found) noteRefusal(request, 'code not known')
    return found
  }
  return { code, limited }
}
