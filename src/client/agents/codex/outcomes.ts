import { newHashedMap } from '../support/hashed-map.ts'
import { isExternalId } from '../support/external-ids.ts'
import { type Json, objectOf } from '../support/json.ts'
import type { References } from '../support/references.ts'

/** The beginnings of outputs that say that a call was refused, or was broken off (README, rule 6). */
const FAILURES = [
  'execution error',
  'failed to parse function arguments',
  'exec_command failed',
  'write_stdin failed',
  'apply_patch verification failed',
  'apply_patch failed',
  'patch rejected',
  'invalid patch',
  'failed to find expected lines',
  'failed to find context',
  'failed to read file to update',
  'unsupported call',
  'unsupported custom tool call',
  'tool call error',
  'tool call failed',
  'command timed out',
  'aborted by user',
  'rejected by user',
  'exec command rejected',
  'user rejected',
  'user cancelled',
  'script failed',
  'script error',
  'failed in sandbox',
  'sandbox error',
  'sandbox denied',
  'unable to locate image',
  'unknown process id',
]

const saysFailure = (head: string): boolean => {
  const text = head.trimStart().toLowerCase()
  return FAILURES.some((failure) => text.startsWith(failure))
}

/** The longest part of an output that can be the CLI's. */
const MAX_HEAD = 1_024

/** What the CLI has put in front of an output: the text before a line `Output:`, or else the first line. */
const headOf = (output: string): string => {
  const start = output.slice(0, MAX_HEAD)
  const marked = start.indexOf('\nOutput:')
  const end = marked === -1 ? start.indexOf('\n') : marked
  return end === -1 ? start : start.slice(0, end)
}

const exited = /(?:\bexited with code|^Exit code:) (-?\d+)\b/im

/** Whether the text of an output says that its call failed. */
export const saysFailed = (output: string): boolean => {
  const head = headOf(output)
  const code = exited.exec(head)?.[1]
  return code === undefined ? saysFailure(head) : Number(code) !== 0
}

/** The id of the call that failed according to an event; undefined for other events. Newer versions tell of an item that is complete. */
const failedCall = (payload: Json): string | undefined =>
  payload['type'] === 'item_completed' ? failedItem(objectOf(payload['item'])) : failedEvent(payload)

const failedItem = ({ id, type, status, exit_code: code }: Json): string | undefined => {
  if (!isExternalId(id)) return undefined
  if (type === 'CommandExecution') return typeof code === 'number' && code !== 0 ? id : undefined
  return (type === 'FileChange' || type === 'McpToolCall') && status === 'failed' ? id : undefined
}

const failedEvent = ({ type, call_id: id, success, exit_code: code, source }: Json): string | undefined => {
  if (!isExternalId(id)) return undefined
  if (type === 'patch_apply_end') return success === false ? id : undefined
  const isOfAgent = type === 'exec_command_end' && source !== 'user_shell'
  return isOfAgent && typeof code === 'number' && code !== 0 ? id : undefined
}

/** The calls that failed according to events, which may come before or after the result; those after it are noted in `references`. */
export const newOutcomes = (references: References) => {
  const failed = newHashedMap()
  /** The line of each result. */
  const answered = newHashedMap()
  return {
    noteEvent: (payload: Json, line: number): void => {
      const id = failedCall(payload)
      if (id === undefined || !failed.add(id)) return
      const result = answered.get(id)
      if (result !== undefined) references.add(line, result)
    },
    noteResult: ({ type, call_id: id }: Json, line: number): void => {
      if (/_output$/.test(String(type)) && isExternalId(id)) answered.add(id, line)
    },
    isFailed: (id: string): boolean => failed.get(id) !== undefined,
  }
}
export type Outcomes = ReturnType<typeof newOutcomes>
