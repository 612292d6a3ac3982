import { parentPort } from 'node:worker_threads'
import type { Client } from '../base/permits.ts'
import { lowerThreadPriority } from '../base/threads.ts'
import { newTurns } from '../base/yielding.ts'
import type { RowAnswer, RowRequest } from './row-making.ts'
import type { RowSteps } from './row-steps.ts'
import { newSteps } from './wanted-steps.ts'

/** A thread that makes rows for many readers, piece by piece, as each of them reads. */

lowerThreadPriority()

type Open = { readonly client: Client; readonly steps: RowSteps; rest: Iterator<string> }

const turns = newTurns()
const sessions = new Map<number, Open>()
const nothing = [].values()

const openOf = ({ id, client, wanted }: RowRequest): Open | undefined => {
  if (wanted) sessions.set(id, { client, steps: newSteps(wanted), rest: nothing })
  return sessions.get(id)
}

/** The next texts, up to a length. The first rows are made at once, because a reader waits for them; all else takes turns. */
const next = async (open: Open, { id, wanted, length }: RowRequest): Promise<RowAnswer> => {
  let text = ''
  while (text.length < length) {
    if (wanted?.is !== 'rows') await turns.take(open.client)
    const { done, value } = open.rest.next()
    if (done) return { id, text, isOver: true }
    text += value
  }
  return { id, text, isOver: false }
}

const answer = async (request: RowRequest): Promise<RowAnswer> => {
  const { id, work } = request
  try {
    const open = openOf(request)
    if (!open) throw new Error('its rows are not open')
    if (work) open.rest = open.steps(work)[Symbol.iterator]()
    return await next(open, request)
  } catch (error) {
    return { id, error }
  }
}

parentPort!.on('message', (message: RowRequest | { readonly closed: number }) => {
  if ('closed' in message) sessions.delete(message.closed)
  else void answer(message).then((made) => parentPort!.postMessage(made))
})
