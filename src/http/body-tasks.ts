import '../low-priority.ts'
import { wholeOf } from './body-bytes.ts'
import { knownMembers } from './known-members.ts'
import { type TaskInput, type TaskResult, resultOf } from './task-result.ts'

/** The task `members` of the threads of `body-thread.ts`, which calls it by name. */
export const members = (input: TaskInput<{ readonly names: readonly string[] }>): TaskResult<unknown> =>
  resultOf(() => knownMembers(wholeOf(input), input.names))
