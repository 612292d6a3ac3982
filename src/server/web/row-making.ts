import { Worker } from 'node:worker_threads'
import type { Client } from '../../base/permits.ts'
import { moduleUrl } from '../../base/threads.ts'
import { Unavailable } from '../../eventstore/engine/rejected.ts'
import { BrokenOff } from '../http/long-list.ts'
import type { RowInput } from './row-steps.ts'
import type { RowTask } from './task-steps.ts'

/** Asks the thread for the next text of a session. */
export type RowRequest = {
  /** The number of the task, which all its requests have. */
  readonly id: number
  readonly client: Client
  /** Only in the first request of a task. */
  readonly task: RowTask | undefined
  /** The next input of the task; undefined asks for more text of the last input. */
  readonly input: RowInput | undefined
  /** The least number of characters of the answered text, unless it is the last text of its input. */
  readonly length: number
}
export type RowAnswer = { readonly id: number } & (
  { readonly text: string; readonly isOver: boolean } | { readonly error: unknown }
)

/** A task on the thread. The rows of a session, and its outline, are made as they are read. */
export type Rows = {
  /** Makes the texts of the next input. @throws Unavailable if the thread has failed; BrokenOff after `close` */
  make(input: RowInput): AsyncGenerator<string, void>
  /** Frees the state of the task on the thread. The caller must call it, also after an error. */
  close(): void
}

/** The number of characters that a request asks for. */
const LENGTH = 64 * 1024
/** The first request asks for fewer, so that the reader soon has something to read. */
const FIRST_LENGTH = 8 * 1024

type Made = Extract<RowAnswer, { readonly text: string }>

/** A running thread. `ended` is called when it ends. */
const startThread = (ended: (error: Error) => void) => {
  const worker = new Worker(moduleUrl('./row-thread', import.meta.url))
  const waiting = new Map<number, PromiseWithResolvers<Made>>()
  let failure: Error | undefined

  const settle = (id: number, settled: (answer: PromiseWithResolvers<Made>) => void) => {
    const found = waiting.get(id)
    waiting.delete(id)
    if (found) settled(found)
  }
  const fail = (reason: Error) => {
    if (failure) return
    failure = new Unavailable('the rows of a session could not be made', false, reason)
    for (const id of [...waiting.keys()]) settle(id, ({ reject }) => reject(failure))
    ended(reason)
  }
  worker.unref()
  worker.on('message', (answer: RowAnswer) =>
    settle(answer.id, ({ resolve, reject }) => ('error' in answer ? reject(answer.error) : resolve(answer))),
  )
  worker.on('error', fail)
  worker.on('exit', () => fail(new Error('the thread has ended')))

  const ask = (request: RowRequest): Promise<Made> => {
    if (failure) return Promise.reject(failure)
    const made = Promise.withResolvers<Made>()
    waiting.set(request.id, made)
    worker.postMessage(request)
    return made.promise
  }
  const forget = (id: number) => {
    settle(id, ({ reject }) => reject(new BrokenOff('the reader has closed the connection')))
    worker.postMessage({ closed: id })
  }
  return { ask, forget, close: () => worker.terminate() }
}

type Thread = ReturnType<typeof startThread>

/**
 * A thread that makes the rows of sessions, and all other HTML that is made of their messages. It leaves the event loop, which answers writes,
 * little to do for a page.
 * @param onError is called when a thread ends by itself. The next task starts another thread.
 */
export const newRowMaking = (onError: (error: Error) => void) => {
  let thread: Thread | undefined
  let count = 0
  let isClosed = false

  const start = (): Thread => {
    const started = startThread((error) => {
      if (thread === started) thread = undefined
      if (!isClosed) onError(error)
    })
    return started
  }

  const open = (task: RowTask, client: Client): Rows => {
    const { ask, forget } = (thread ??= start())
    const id = (count += 1)
    let isOpen = false
    let isOver = false

    async function* make(input: RowInput): AsyncGenerator<string, void> {
      for (let next: RowInput | undefined = input; ; next = undefined) {
        if (isOver) throw new BrokenOff('the reader has closed the connection')
        const first = isOpen ? undefined : task
        isOpen = true
        const made = await ask({ id, client, task: first, input: next, length: first ? FIRST_LENGTH : LENGTH })
        yield made.text
        if (made.isOver) return
      }
    }

    const close = () => {
      if (isOpen && !isOver) forget(id)
      isOver = true
    }

    return { make, close }
  }

  const close = async () => {
    isClosed = true
    await thread?.close()
  }

  return { open, close }
}

export type RowMaking = ReturnType<typeof newRowMaking>
