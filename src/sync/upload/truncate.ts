import { LONG_TEXT, SHORT_TEXT, cutTo, isOver } from '../../text-caps.ts'
import type { Part, SessionMessage, TraceFields } from '../agents/agent.ts'
import { digest } from '../agents/keys.ts'

/** A thing with its short text within the caps, and what had to be cut for that, in words. */
export type Cut<T> = { readonly within: T; readonly cut: readonly string[] }

const mostOf: { readonly [Name in keyof Required<TraceFields>]: number } = {
  agentId: SHORT_TEXT,
  title: LONG_TEXT,
  projectPath: LONG_TEXT,
  projectName: SHORT_TEXT,
  model: SHORT_TEXT,
  gitBranch: SHORT_TEXT,
  gitRemoteUrl: LONG_TEXT,
  gitRef: SHORT_TEXT,
}

/** An id keeps being another one than all others: what is cut off stays in a digest. */
const cutId = (id: string): string => (isOver(id, SHORT_TEXT) ? `${cutTo(id, SHORT_TEXT - 32)}${digest(id)}` : id)

const said = (what: string, most: number) => `${what} cut to ${most.toLocaleString('en')} characters`

export const cutFields = (fields: TraceFields): Cut<TraceFields> => {
  const cut: string[] = []
  const within = Object.entries(fields).map(([name, value]: [string, string]) => {
    const most = mostOf[name as keyof TraceFields]
    if (isOver(value, most)) cut.push(said(name, most))
    return [name, cutTo(value, most)]
  })
  return { within: Object.fromEntries(within) as TraceFields, cut }
}

const cutPart = (part: Part, note: (what: string) => void): Part => {
  if (part.type !== 'tool_call' && part.type !== 'tool_result') return part
  const { callId, toolName } = part.content
  if (isOver(callId, SHORT_TEXT)) note('callId')
  if (isOver(toolName, SHORT_TEXT)) note('toolName')
  return {
    ...part,
    content: { ...part.content, callId: cutId(callId), toolName: cutTo(toolName, SHORT_TEXT) },
  } as Part
}

export const cutMessage = (message: SessionMessage): Cut<SessionMessage> => {
  const names = new Set<string>()
  const note = (what: string) => void names.add(what)
  const { model } = message
  if (model !== undefined && isOver(model, SHORT_TEXT)) note('model')
  const parts = message.parts.map((part) => cutPart(part, note))
  if (names.size === 0) return { within: message, cut: [] }
  const within = { ...message, ...(model === undefined ? {} : { model: cutTo(model, SHORT_TEXT) }), parts }
  return { within, cut: [...names].map((name) => said(name, SHORT_TEXT)) }
}
