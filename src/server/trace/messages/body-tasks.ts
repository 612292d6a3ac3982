import { lowerThreadPriority } from '../../../base/threads.ts'
import { type TaskInput, type TaskResult, resultOf } from '../../http/body-tasks.ts'
import { readBatch, readMessage } from './body.ts'
import type { MessageUpsert } from './message.ts'

lowerThreadPriority()

/** The tasks of the threads that parse bodies, by name. */
export const batch = (input: TaskInput): TaskResult<readonly MessageUpsert[]> => resultOf(input, readBatch)

export const message = (input: TaskInput): TaskResult<Omit<MessageUpsert, 'externalId'>> => resultOf(input, readMessage)
