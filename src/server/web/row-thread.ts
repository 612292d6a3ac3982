import { parentPort } from 'node:worker_threads'
import type { Client } from '../../base/permits.ts'
import { lowerThreadPriority } from '../../base/threads.ts'
import { newTurns } from '../../base/yielding.ts'
import type { RowAnswer, RowRequest } from './row-making.ts'
import type { RowSteps } from './row-steps.ts'
import { newSteps } from './task-steps.ts'

/** A thread that makes rows for many readers, piece by piece, as each of them reads. */

lowerThreadPriority()

/** A task under way; `rest` are the pieces of its last input that have not been sent yet. */
type Open = { readonly client: Client; readonly steps: RowSteps; rest: Iterator<string> }

const turns = newTurns()
const sessions = new Map<number, Open>()
const nothing = [].values()

const openOf = ({ id, client, task }: RowRequest): Open | undefined => {
  if (task) sessions.set(id, { client, steps: newSteps(task), rest: nothing })
  return sessions.get(id)
}

/** The next text, of at least a length, made in the turns of its client. */
const next = async (open: Open, { id, length }: RowRequest): Promise<RowAnswer> => {
  let text = ''
  while (text.length < length) {
    await turns.take(open.client)
    const { done, value } = open.rest.next()
    if (done) return { id, text, isOver: true }
    text += value
  }
  return { id, text, isOver: false }
}

const answer = async (request: RowRequest): Promise<RowAnswer> => {
  const { id, input } = request
  try {
    const open = openOf(request)
    if (!open) throw new Error(`Rows were asked for after their task ${id} was closed`)
    if (input) open.rest = open.steps(input)[Symbol.iterator]()
    return await next(open, request)
  } catch (error) {
    return { id, error }
  }
}

parentPort!.on('message', (message: RowRequest | { readonly closed: number }) => {
  if ('closed' in message) sessions.delete(message.closed)
  else void answer(message).then((made) => parentPort!.postMessage(made))
})
