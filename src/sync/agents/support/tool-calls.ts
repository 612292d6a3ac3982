import { isExternalId } from './external-ids.ts'

type Call = { readonly callId: string; readonly toolName: string }

/** Matches results of tools with their calls, because results do not carry the tool's name. */
export type ToolCalls = {
  /** Adds a call. One without an id gets `fallbackId`. */
  readonly add: (id: unknown, toolName: string, fallbackId: string) => Call
  /** The call with this id; without an id, the oldest call without one that has no result yet. */
  readonly findForResult: (id: unknown) => Call
}

/** The calls of one session file, in the order of its lines */
export const newToolCalls = (): ToolCalls => {
  const toolNames = new Map<string, string>()
  const withoutId: Call[] = []
  let nextUnanswered = 0
  return {
    add: (id, toolName, fallbackId) => {
      if (!isExternalId(id)) {
        const call = { callId: fallbackId, toolName }
        withoutId.push(call)
        return call
      }
      toolNames.set(id, toolName)
      return { callId: id, toolName }
    },
    findForResult: (id) => {
      if (isExternalId(id)) return { callId: id, toolName: toolNames.get(id) ?? 'unknown' }
      if (nextUnanswered === withoutId.length) return { callId: 'unknown', toolName: 'unknown' }
      return withoutId[nextUnanswered++]!
    },
  }
}
