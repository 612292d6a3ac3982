import { type Api, type Body, type Entry, idOf, textOf, toolOf } from './api.ts'

/** The `generateContent` API of Gemini. */

const senderOf = (role: string, parts: readonly Body[]): Entry['from'] => {
  if (role === 'model') return 'model'
  return parts.some((part) => part['functionResponse'] !== undefined) ? 'tool' : 'user'
}

export const gemini: Api = {
  path: /:(?:streamGenerateContent|generateContent)$/,
  modelOf: (_body, path) => /models\/([^:]+):/.exec(path)?.[1] ?? 'unknown',
  historyOf: ({ contents = [] }) =>
    (contents as Body[]).map(({ role, parts }) => ({ from: senderOf(role, parts), text: textOf(parts) })),
  toolsOf: ({ tools = [] }) =>
    (tools as Body[])
      .flatMap(({ functionDeclarations = [] }) => functionDeclarations as Body[])
      .map((tool) => toolOf({ ...tool, parameters: tool['parametersJsonSchema'] ?? tool['parameters'] })),
  isStream: (_body, path) => path.endsWith(':streamGenerateContent'),
  write: ({ number, model, text, thinking, calls, tokens }) => {
    const signature = { thoughtSignature: Buffer.from(`signature ${number}`).toString('base64') }
    const parts = [
      ...(thinking ? [{ text: `**Thought**\n${thinking}`, thought: true }] : []),
      ...(text ? [{ text }] : []),
      ...calls.map(({ id, tool, input }, i) => ({
        functionCall: { id, name: tool.name, args: input },
        ...(i === 0 && signature),
      })),
    ]
    const whole = {
      candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
      usageMetadata: {
        promptTokenCount: tokens.input + tokens.cached,
        cachedContentTokenCount: tokens.cached,
        candidatesTokenCount: tokens.output,
        thoughtsTokenCount: tokens.thinking,
        totalTokenCount: tokens.input + tokens.cached + tokens.output + tokens.thinking,
      },
      modelVersion: model,
      responseId: idOf('gemini', number),
    }
    return { whole, events: [{ data: whole }] }
  },
}
