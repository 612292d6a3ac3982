import { isExternalId } from './external-ids.ts'
import { newHashedMap } from './hashed-map.ts'

/** The name of a tool of an MCP server, in the same form in all agents. */
export const mcpToolName = (server: string, tool: string): string => `mcp__${server}__${tool}`

export type Call = { readonly callId: string; readonly toolName: string }

/** Matches results of tools with their calls, because results do not have the tool's name. */
export type ToolCalls = {
  /** Adds a call. One without an id gets `fallbackId`. */
  readonly add: (id: unknown, toolName: string, fallbackId: string) => Call
  /** The call with this id. Where the result has no id, the oldest call that has neither an id nor a result. */
  readonly findForResult: (id: unknown) => Call
}

/** The names of tools by the ids of their calls. Of a call that has its result only a hash of the id is kept. */
const newNamesById = () => {
  const open = new Map<string, string>()
  const names: string[] = []
  const numberOf = new Map<string, number>()
  /** The number of the tool's name, from 1. */
  const answered = newHashedMap()
  const answer = (id: string, name: string): string => {
    open.delete(id)
    if (!numberOf.has(name)) numberOf.set(name, names.push(name))
    answered.set(id, numberOf.get(name)!)
    return name
  }
  return {
    add: (id: string, name: string): void => void open.set(id, name),
    find: (id: string): string | undefined => {
      const name = open.get(id)
      if (name !== undefined) return answer(id, name)
      const number = answered.get(id)
      return number === undefined ? undefined : names[number - 1]
    },
  }
}

/** Remembers no call, for a reading that does not use the names of tools. */
export const forgottenCalls: ToolCalls = {
  add: (id, toolName, fallbackId) => ({ callId: isExternalId(id) ? id : fallbackId, toolName }),
  findForResult: (id) => ({ callId: isExternalId(id) ? id : 'unknown', toolName: 'unknown' }),
}

/** The calls of one session file, in the order of its lines. `nameLater` gives the name of a tool whose call comes after its result. */
export const newToolCalls = (nameLater?: (id: string) => string | undefined): ToolCalls => {
  const toolNames = newNamesById()
  const withoutId: Call[] = []
  let nextUnanswered = 0
  return {
    add: (id, toolName, fallbackId) => {
      if (!isExternalId(id)) {
        const call = { callId: fallbackId, toolName }
        withoutId.push(call)
        return call
      }
      toolNames.add(id, toolName)
      return { callId: id, toolName }
    },
    findForResult: (id) => {
      if (isExternalId(id)) return { callId: id, toolName: toolNames.find(id) ?? nameLater?.(id) ?? 'unknown' }
      if (nextUnanswered === withoutId.length) return { callId: 'unknown', toolName: 'unknown' }
      return withoutId[nextUnanswered++]!
    },
  }
}
