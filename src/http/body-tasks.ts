import '../low-priority.ts'
import { wholeOf } from './body-bytes.ts'
import { knownMembers } from './known-members.ts'
import { type TaskInput, type TaskResult, resultOf } from './task-result.ts'

/** What runs on the threads that read bodies, by this name. */
export const members = (input: TaskInput<{ readonly names: readonly string[] }>): TaskResult<unknown> =>
  resultOf(() => knownMembers(wholeOf(input), input.names))
