import { lowerThreadPriority } from '../base/threads.ts'
import { knownMembers } from './known-members.ts'
import { type TaskInput, type TaskResult, resultOf } from './task-result.ts'

lowerThreadPriority()

/** The task `members` of the threads of `body-thread.ts`, which calls it by name. */
export const members = (input: TaskInput<{ readonly names: readonly string[] }>): TaskResult<unknown> =>
  resultOf(input, (text) => knownMembers(text, input.names))
