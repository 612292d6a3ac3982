import type { Steps } from '../base/json/steps.ts'
import { type Edit, editsIn, linesOfEdit } from './edits.ts'
import type { ChangedLines } from './changed-lines.ts'
import type { Call, Message, Part } from './message.ts'
import { newOpenCalls } from './open-calls.ts'
import { toolName } from './tool-names.ts'
import { isPrompt } from './turns.ts'
import { visibleLine } from './visible.ts'

/** An edit that a call has made, or tried to make. */
export type MadeEdit = ChangedLines & {
  /** The externalId of the message with the call. */
  readonly messageId: string
  readonly timestamp: number | undefined
  /** The prompt that it was made for, from 1; 0 before the first one. */
  readonly prompt: number
  /** Undefined for an edit that is too long to be kept. */
  readonly edit: Edit | undefined
  /** Why the call failed; undefined if it did not. */
  failure: string | undefined
}

export type ChangedFile = ChangedLines & {
  /** Undefined for edits that do not name their file. */
  readonly path: string | undefined
  readonly edits: readonly MadeEdit[]
}

/** What the calls of a session changed: files in the order of their first edit. Failed edits do not count. */
export type Changes = ChangedLines & {
  readonly files: readonly ChangedFile[]
  /** How many files were changed. */
  readonly changed: number
  readonly edits: number
  readonly failed: number
  /** The number of edits that are left out, because there are too many. */
  readonly left: number
}

/** The most characters of a call's arguments, and of all arguments, whose edits are kept with their text; of others only the lines are counted. */
const MOST_ARGS = 256 * 1024
export const MOST_KEPT = 4 * 1024 * 1024
/** The most edits of a session that are kept; of further ones only their number. */
const MOST_EDITS = 5_000
const MOST_FAILURE = 300
const MOST_NAME = 500

type Open = { readonly id: string; readonly edits: readonly MadeEdit[]; readonly files: number }

/** The reason of a failed call: the first line of its output. */
const failureOf = (output: string): string => {
  const start = output.slice(0, 4 * MOST_FAILURE).trim()
  return visibleLine(start.split('\n', 1)[0]!).slice(0, MOST_FAILURE)
}

const sumOf = (edits: readonly MadeEdit[]): ChangedLines & { readonly made: number } => {
  const made = edits.filter(({ failure }) => failure === undefined)
  const sum = (of: 'added' | 'removed') => made.reduce((total, one) => total + one[of], 0)
  return { added: sum('added'), removed: sum('removed'), made: made.length }
}

/** Collects the changes, message by message in list order. */
export const newChanges = () => {
  const files = new Map<string | undefined, MadeEdit[]>()
  const open = newOpenCalls<Open>(({ files }) => files)
  let [prompt, kept, count, left] = [0, 0, 0, 0]

  function* addCall(
    { externalId: messageId, timestamp }: Message,
    { callId: id, toolName: tool, args }: Call,
  ): Steps<Open> {
    const all = editsIn(toolName(tool.slice(0, MOST_NAME)), args)
    const isShown = args.length <= MOST_ARGS && kept + args.length <= MOST_KEPT
    if (all.length > 0 && isShown) kept += args.length
    const room = all.slice(0, MOST_EDITS - count)
    left += all.length - room.length
    count += room.length
    const edits: MadeEdit[] = []
    for (const edit of room) {
      const shown = isShown ? edit : undefined
      edits.push({ messageId, timestamp, prompt, edit: shown, failure: undefined, ...linesOfEdit(edit) })
      const ofFile = files.get(edit.path)
      if (ofFile) ofFile.push(edits.at(-1)!)
      else files.set(edit.path, [edits.at(-1)!])
      yield
    }
    const call = { id, edits, files: new Set(room.flatMap(({ path }) => path ?? [])).size }
    open.add(call)
    return call
  }

  const fail = (call: Open | undefined, why: string) => {
    if (call && open.take(call)) for (const one of call.edits) one.failure = why
  }

  /** Adds a part. `last` is the call before it in its message. */
  function* addPart(message: Message, part: Part, last: Open | undefined): Steps<Open | undefined> {
    if (part.type === 'tool_call') return yield* addCall(message, part)
    if (part.type === 'error') fail(last, failureOf(part.message))
    if (part.type !== 'tool_result') return last
    const call = open.oldestWith(part.callId)
    if (part.failed) fail(call, failureOf(part.output))
    else if (call) open.take(call)
    return last
  }

  return {
    *add(message: Message): Steps<void> {
      if (isPrompt(message)) prompt += 1
      let last: Open | undefined
      for (const part of message.parts) {
        last = yield* addPart(message, part, last)
        yield
      }
    },
    end: (): Changes => {
      const all = [...files].map(([path, edits]) => ({ path, edits, ...sumOf(edits) }))
      const sum = (of: 'added' | 'removed' | 'made') => all.reduce((total, one) => total + one[of], 0)
      const changed = all.filter(({ path, made }) => path !== undefined && made > 0).length
      const [edits, lines] = [sum('made'), { added: sum('added'), removed: sum('removed') }]
      return { files: all, changed, edits, failed: count - edits, left, ...lines }
    },
  }
}
