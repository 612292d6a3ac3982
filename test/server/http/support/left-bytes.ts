import { type TaskInput, type TaskResult, resultOf } from '../../../../src/server/http/body-tasks.ts'

/** A task for a thread: how many bytes each piece of a body holds while its text is read. */
export const leftBytes = (input: TaskInput): TaskResult<readonly number[]> =>
  resultOf(input, () => input.pieces.map(({ byteLength }) => byteLength))
