import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import type { Busy, Permit, Permits } from '../../base/permits.ts'
import { Unavailable } from '../../eventstore/engine/rejected.ts'
import { clientOf } from './node-permits.ts'

/** What is released with each answer, by one listener: an emitter warns of many. */
const releases = new WeakMap<ServerResponse, (() => void)[]>()

/**
 * Calls `release` when an answer has been sent or its client has left: at once if that has happened already, because then `close` is not emitted any
 * more. Everything that is held for an answer is released by it.
 */
export const whenOver = (answer: ServerResponse, release: () => void): void => {
  if (answer.destroyed || answer.closed) return release()
  const known = releases.get(answer)
  if (known) return void known.push(release)
  const all = [release]
  releases.set(answer, all)
  answer.once('close', () => all.forEach((one) => one()))
}

/**
 * The answer that a connection is sending, or waits for. Whatever is written to the connection itself comes behind it: a client may send requests
 * before it has the answers to earlier ones. Node's own answer to a broken request looks at the same property.
 */
export const answerUnderWay = (socket: Socket): ServerResponse<IncomingMessage> | undefined =>
  (socket as { readonly _httpMessage?: ServerResponse<IncomingMessage> | null })._httpMessage ?? undefined

/**
 * Takes a permit for an answer, and gives it back when the answer is over. Also a wait for it ends then.
 * @throws Busy if there was no room in time; Unavailable if the client has left
 */
export const acquireUntilOver = async (
  permits: Permits,
  { raw, request }: FastifyReply,
  size: number,
  onYield: (reason: Busy) => void,
): Promise<Permit> => {
  const over = new AbortController()
  whenOver(raw, () => over.abort(new Unavailable('the client has left')))
  const permit = await permits.acquire(clientOf(request), size, onYield, over.signal)
  whenOver(raw, permit.release)
  return permit
}
