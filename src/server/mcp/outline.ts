import type { Steps } from '../../base/json/steps.ts'
import { newChanges } from '../../transcript/changes.ts'
import type { Part } from '../../transcript/message.ts'
import { newOpenCalls } from '../../transcript/open-calls.ts'
import { toolName } from '../../transcript/tool-names.ts'
import { isPrompt, ownText } from '../../transcript/turns.ts'
import type { TimedMessage } from './read-all.ts'

/** The most characters of a text, and of the name of a tool. */
const MOST_TEXT = 2_000
const MOST_NAME = 200
/** The most prompts, tools and errors that are kept; the others are only counted. */
const MOST_PROMPTS = 5_000
const MOST_TOOLS = 500
const MOST_ERRORS = 100

/** A prompt, with the number of calls that followed it and how many of them failed. */
type Prompt = {
  readonly messageId: string
  readonly time: number
  readonly number: number
  readonly text: string
  calls: number
  failed: number
}
type ToolCount = { calls: number; failed: number; time: number }
/** A failed call, or an error of the agent, with the beginning of its message. */
type Failure = {
  readonly messageId: string
  readonly time: number
  readonly tool: string | undefined
  readonly text: string
}

type OpenCall = { readonly id: string; readonly tool: ToolCount | undefined; readonly prompt: Prompt | undefined }

const textOfPrompt = (message: TimedMessage): string => {
  const texts = [...ownText(message), ...message.parts].flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return (texts.find((text) => text.trim() !== '') ?? '').slice(0, MOST_TEXT)
}

/** Collects the outline of a session, message by message: its prompts, tools, changed files and errors. */
export const newOutline = () => {
  const changes = newChanges()
  const open = newOpenCalls<OpenCall>(() => 0)
  const prompts: Prompt[] = []
  const tools = new Map<string, ToolCount>()
  const failures: Failure[] = []
  const counts = { prompts: 0, calls: 0, failed: 0 }

  const addCall = (time: number, callId: string, name: string): OpenCall => {
    const key = toolName(name.slice(0, MOST_NAME))
    if (!tools.has(key) && tools.size < MOST_TOOLS) tools.set(key, { calls: 0, failed: 0, time })
    const call = { id: callId, tool: tools.get(key), prompt: prompts.at(-1) }
    counts.calls += 1
    if (call.tool) Object.assign(call.tool, { calls: call.tool.calls + 1, time })
    if (call.prompt) call.prompt.calls += 1
    open.add(call)
    return call
  }

  const fail = (call: OpenCall | undefined, failure: Failure) => {
    if (failures.length < MOST_ERRORS) failures.push({ ...failure, text: failure.text.slice(0, MOST_TEXT) })
    counts.failed += 1
    if (!call || !open.take(call)) return
    if (call.tool) call.tool.failed += 1
    if (call.prompt) call.prompt.failed += 1
  }

  const addPart = (
    { externalId: messageId, timestamp: time }: TimedMessage,
    part: Part,
    last: OpenCall | undefined,
  ) => {
    if (part.type === 'tool_call') return addCall(time, part.callId, part.toolName)
    if (part.type === 'error') fail(last, { messageId, time, tool: undefined, text: part.message })
    if (part.type !== 'tool_result') return last
    const call = open.oldestWith(part.callId)
    if (part.failed) fail(call, { messageId, time, tool: part.toolName, text: part.output })
    else if (call) open.take(call)
    return last
  }

  return {
    *add(message: TimedMessage): Steps<void> {
      if (isPrompt(message)) {
        const prompt = { messageId: message.externalId, time: message.timestamp, text: textOfPrompt(message) }
        counts.prompts += 1
        if (prompts.length < MOST_PROMPTS) prompts.push({ ...prompt, number: counts.prompts, calls: 0, failed: 0 })
      }
      let last: OpenCall | undefined
      for (const part of message.parts) {
        last = addPart(message, part, last)
        yield
      }
      yield* changes.add(message)
    },
    end: () => ({ prompts, tools, failures, counts, changes: changes.end() }),
  }
}
