import { type Api, type Body, type ProviderAnswer, idOf, textOf, toolOf } from './api.ts'

/** The Chat Completions API of OpenAI. */

const usageOf = ({ tokens: { input, cached, output, thinking } }: ProviderAnswer) => ({
  prompt_tokens: input + cached,
  completion_tokens: output + thinking,
  total_tokens: input + cached + output + thinking,
  prompt_tokens_details: { cached_tokens: cached },
  completion_tokens_details: { reasoning_tokens: thinking },
})

const messageOf = ({ text, thinking, calls }: ProviderAnswer) => ({
  role: 'assistant',
  content: text ?? null,
  ...(thinking && { reasoning_content: thinking }),
  ...(calls.length > 0 && {
    tool_calls: calls.map(({ id, tool, input }, index) => ({
      index,
      id,
      type: 'function',
      function: { name: tool.name, arguments: JSON.stringify(input) },
    })),
  }),
})

const SENDERS: Readonly<Record<string, 'model' | 'tool' | 'user'>> = { assistant: 'model', tool: 'tool' }

export const chat: Api = {
  path: /\/chat\/completions$/,
  modelOf: ({ model }) => String(model),
  historyOf: ({ messages }) =>
    (messages as Body[])
      .filter(({ role }) => role !== 'system' && role !== 'developer')
      .map(({ role, content }) => ({ from: SENDERS[role] ?? 'user', text: textOf(content) })),
  toolsOf: ({ tools = [] }) => (tools as Body[]).map((tool) => toolOf(tool['function'] ?? tool)),
  isStream: ({ stream }) => stream === true,
  write: (answer) => {
    const head = { id: idOf('chatcmpl', answer.number), created: Math.floor(Date.now() / 1000), model: answer.model }
    const finish = answer.calls.length > 0 ? 'tool_calls' : 'stop'
    const { role, ...said } = messageOf(answer)
    const chunk = (choices: readonly object[], more: object = {}) => ({
      data: { ...head, object: 'chat.completion.chunk', choices, ...more },
    })
    const choice = (delta: object, finish_reason: string | null = null) => [{ index: 0, delta, finish_reason }]
    return {
      whole: {
        ...head,
        object: 'chat.completion',
        choices: [{ index: 0, message: { role, ...said }, finish_reason: finish }],
        usage: usageOf(answer),
      },
      events: [
        chunk(choice({ role, content: '' })),
        ...Object.entries(said).flatMap(([name, value]) => (value === null ? [] : [chunk(choice({ [name]: value }))])),
        chunk(choice({}, finish)),
        chunk([], { usage: usageOf(answer) }),
        { data: '[DONE]' },
      ],
    }
  },
}
