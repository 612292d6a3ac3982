import type { FastifyReply } from 'fastify'
import { type HttpError, notFound } from '../http/http-error.ts'

/** Seconds until an event that was just appended is covered. */
const RETRY_AFTER = '2'

/** A 404 for an event that no checkpoint, or not the tree that was asked for, covers. */
export const notCovered = (reply: FastifyReply): HttpError => {
  reply.header('retry-after', RETRY_AFTER)
  return notFound()
}
