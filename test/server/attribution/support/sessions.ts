import { randomUUID } from 'node:crypto'
import type { App } from '../../../support/open-app.ts'

/** Resolves when everything that was written before is known to attribution. */
export const known = async ({ service }: App): Promise<void> => {
  const position = await service.log.head()
  for (;;) {
    const [row] = await service.attributions.snapshot((rows) =>
      rows<{ position: bigint }>('', 'select position from reached'),
    )
    if (row!.position >= position) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** The text of lines. */
export const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')

/** Lines of code that nobody else has. */
export const someLines = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `  const made${i} = from('${randomUUID()}')`)

type Call = {
  readonly callId?: string
  readonly tool: string
  readonly args: object
  readonly status?: 'success' | 'error'
  readonly output?: string
}

/** The messages of a call: the call itself, and its result unless it has no `output`. */
export const messagesOf = (
  name: string,
  at: number | undefined,
  { callId = `call-${name}`, tool, args, status = 'success', output }: Call,
): object[] => {
  const time = at === undefined ? {} : { timestamp: at }
  const call = {
    externalId: name,
    role: 'assistant',
    ...time,
    parts: [{ type: 'tool_call', content: { callId, toolName: tool, args } }],
  }
  if (output === undefined) return [call]
  const result = { type: 'tool_result', content: { callId, toolName: tool, output, status } }
  return [call, { externalId: `${name}-result`, role: 'user', ...time, parts: [result] }]
}
