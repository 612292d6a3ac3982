/** Contents of messages that are computed from a name and a version, so that a reader knows what to expect. */
export type Content = { role: string; textContent: string; parts: { type: string; content: object }[] }

const TOOLS = ['bash', 'read', 'edit'] as const

export const contentOf = (name: string, version: number): Content => {
  const text = `${name} version ${version}`
  const tools = Array.from({ length: version % 3 }, (_, i) => ({
    type: 'tool_call',
    content: { callId: `${name}-${i}`, toolName: TOOLS[(version + i) % 3]!, args: { version, text } },
  }))
  const parts = [{ type: 'text', content: { text } }, ...tools]
  return { role: 'assistant', textContent: text, parts: version % 5 === 4 ? [] : parts }
}

export type SeenMessage = Content & { externalId: string; parts: { order: number; type: string; content: object }[] }

/** The version of a message. @throws Error if it is not exactly one of the versions */
export const versionOf = (message: SeenMessage): number => {
  const version = Number(/ version (\d+)$/.exec(message.textContent)?.[1])
  const { role, textContent, parts } = message
  const seen = JSON.stringify({ role, textContent, parts: parts.map(({ type, content }) => ({ type, content })) })
  const wanted = JSON.stringify(contentOf(message.externalId, version))
  if (seen !== wanted) throw new Error(`${message.externalId} is of no version: ${seen}`)
  return version
}

/** The counts that a trace with these messages must have. */
export const countsOf = (messages: readonly SeenMessage[]) => {
  const types: Record<string, number> = {}
  const tools: Record<string, number> = {}
  const add = (counts: Record<string, number>, key: string) => (counts[key] = (counts[key] ?? 0) + 1)
  for (const { parts } of messages) {
    const calls = parts.filter(({ type }) => type === 'tool_call')
    add(types, calls.length > 0 ? 'tool_call' : 'agent_text')
    for (const { content } of calls) add(tools, (content as { toolName: string }).toolName)
  }
  return { types, tools }
}
