import { isKey } from '../keys.ts'

type Call = { readonly callId: string; readonly toolName: string }

/** Which call a result answers; results carry no tool name. */
export type ToolCalls = {
  /** Notes a call. One without an id gets `fallback`. */
  readonly called: (id: unknown, toolName: string, fallback: string) => Call
  /** The call with this id; without an id, the oldest call that had none and has no answer yet. */
  readonly answered: (id: unknown) => Call
}

/** The calls of one session file, in the order of its lines (README, rule 5). */
export const toolCalls = (): ToolCalls => {
  const names = new Map<string, string>()
  const nameless: Call[] = []
  let unanswered = 0
  return {
    called: (id, toolName, fallback) => {
      if (!isKey(id)) {
        const call = { callId: fallback, toolName }
        nameless.push(call)
        return call
      }
      names.set(id, toolName)
      return { callId: id, toolName }
    },
    answered: (id) => {
      if (isKey(id)) return { callId: id, toolName: names.get(id) ?? 'unknown' }
      if (unanswered === nameless.length) return { callId: 'unknown', toolName: 'unknown' }
      return nameless[unanswered++]!
    },
  }
}
