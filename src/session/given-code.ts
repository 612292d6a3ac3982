import type { FastifyReply, FastifyRequest } from 'fastify'
import { type AttemptOptions, newAttempt } from '../http/attempt.ts'
import { tooMany } from '../http/limits.ts'
import { noteRefusal } from '../http/refusals.ts'
import type { GivenCode } from './redeem.ts'

/** The one-time code of a request. A made-up one counts against the limit for requests without a valid token. */
export const givenCode = (
  options: AttemptOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  code: string,
): GivenCode => {
  const attempt = newAttempt(options, request.ip, (waitMs) => tooMany(reply, waitMs))
  const limited: GivenCode['limited'] = async (lookUp) => {
    const found = await attempt.resultOf(lookUp)
    if (!found) noteRefusal(request, 'code not known')
    return found
  }
  return { code, limited }
}
