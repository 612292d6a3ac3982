import type { Session, SessionMessage } from '../../../src/client/agents/agent.ts'
import type { Expected } from './shared-data.ts'

const count = (values: readonly string[], start: Record<string, number> = {}): Record<string, number> => {
  const counts = { ...start }
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1
  return counts
}

const first60 = (messages: readonly SessionMessage[]): string => {
  const text = messages
    .filter(({ role }) => role === 'user')
    .flatMap(({ parts }) => parts.find(({ type }) => type === 'text') ?? [])[0]
  const prompt = text?.type === 'text' ? text.content.text.replace(/\s+/g, ' ').trim() : ''
  return [...prompt].slice(0, 60).join('')
}

const isoOf = (time: number | undefined): string => (time === undefined ? '' : new Date(time).toISOString())

type Counted = Omit<Expected, 'cwdsInOrder' | 'gitBranchesInOrder'>

/** Whether a message is a command that the user gave, which is no prompt. `expected.json` counts it as the user's. */
export const isCommand = ({ role, parts }: SessionMessage): boolean =>
  role === 'system' && parts.some(({ type, content }) => type === 'text' && /^(?:\/\w|! )/.test(content.text))

const asCounted = (message: SessionMessage): SessionMessage =>
  isCommand(message) ? { ...message, role: 'user' } : message

/** What `expected.json` counts, counted on what the parser gives. */
export const countsOf = (session: Session, given: readonly SessionMessage[]): Counted => {
  const messages = given.map(asCounted)
  const parts = messages.flatMap((message) => message.parts)
  const tools = Object.entries(count(parts.flatMap((p) => (p.type === 'tool_call' ? p.content.toolName : []))))
  const ids = messages.map(({ externalId }) => externalId)
  return {
    unparsedLines: session.skippedLines,
    messages: messages.length,
    messagesByRole: count(
      messages.map(({ role }) => role),
      { user: 0, assistant: 0, system: 0 },
    ),
    toolResultOnlyMessages: messages.filter((m) => m.role === 'user' && m.parts.every((p) => p.type === 'tool_result'))
      .length,
    parts: count(
      parts.map(({ type }) => type),
      { text: 0, thinking: 0, tool_call: 0, tool_result: 0, error: 0 },
    ),
    partsTotal: parts.length,
    toolResultsWithErrorStatus: parts.filter((p) => p.type === 'tool_result' && p.content.status === 'error').length,
    toolsTop5: tools.sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, 5),
    firstUserPrompt60: first60(messages),
    models: count(messages.flatMap(({ model }) => model ?? [])),
    firstTimestamp: isoOf(messages[0]?.timestamp),
    lastTimestamp: isoOf(
      messages.length === 0 ? undefined : Math.max(...messages.map(({ timestamp }) => timestamp ?? 0)),
    ),
    externalIds: { first: ids[0] ?? '', last: ids.at(-1) ?? '', distinct: new Set(ids).size },
    sessionId: session.externalId,
    gitBranch: session.trace.gitBranch ?? null,
  }
}
