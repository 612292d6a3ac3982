import { isExternalId } from './external-ids.ts'
import { newHashedMap, type SavedMap } from './hashed-map.ts'
import { NeedsWhole } from './line-parser.ts'

export type Call = { readonly callId: string; readonly toolName: string }

/** Tool calls as plain JSON: the calls that have no result yet, and hashes of the ids of all others. */
export type SavedCalls = {
  readonly open: readonly (readonly [string, string])[]
  readonly withoutId: readonly Call[]
  readonly answered?: SavedMap
}

/** How many of the calls without a result are saved. Older ones were interrupted, and never get one. */
const MAX_SAVED = 500

/** Matches results of tools with their calls, because results do not have the tool's name. */
export type ToolCalls = {
  /** Adds a call. One without an id gets `fallbackId`. */
  readonly add: (id: unknown, toolName: string, fallbackId: string) => Call
  /**
   * The call with this id. Where the result has no id, the oldest call that has neither an id nor a result. Throws NeedsWhole for a
   * call of which only the id was saved.
   */
  readonly findForResult: (id: unknown) => Call
  /** Whether a call with this id was added or saved. */
  readonly isKnown: (id: string) => boolean
  readonly save: () => SavedCalls
}

/** The names of tools by the ids of their calls. Of a call that has its result only a hash of the id is kept. */
const newNamesById = (saved?: SavedCalls) => {
  const open = new Map(saved?.open)
  const names: string[] = []
  const numberOf = new Map<string, number>()
  // The number of the tool's name, from 1; 0 for a call of which only the id was saved.
  const answered = newHashedMap(saved?.answered)
  // Whether an unknown id may be that of a call that was not saved.
  const isCut = saved !== undefined && (saved.answered === undefined || saved.open.length >= MAX_SAVED)
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
      if (number === 0 || (number === undefined && isCut)) throw new NeedsWhole()
      return number === undefined ? undefined : names[number - 1]
    },
    isKnown: (id: string): boolean => open.has(id) || answered.get(id) !== undefined,
    save: () => ({ open: [...open].slice(-MAX_SAVED), answered: answered.saveKeys() }),
  }
}

/**
 * The calls of one session file, in the order of its lines, after those that were saved. `nameLater` gives the name of a tool whose
 * call comes after its result.
 */
export const newToolCalls = (saved?: SavedCalls, nameLater?: (id: string) => string | undefined): ToolCalls => {
  const toolNames = newNamesById(saved)
  const withoutId: Call[] = [...(saved?.withoutId ?? [])]
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
    isKnown: toolNames.isKnown,
    save: () => ({ ...toolNames.save(), withoutId: withoutId.slice(nextUnanswered) }),
  }
}
