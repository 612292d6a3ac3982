import { type Api, type Body, type Call, type Entry, type ProviderAnswer, idOf, textOf, toolOf } from './api.ts'

/** The Responses API of OpenAI. */

const entryOf = ({ type = 'message', role, content }: Body): Entry => {
  if (type === 'message') return { from: role === 'assistant' ? 'model' : 'user', text: textOf(content) }
  if (type === 'agent_message') return { from: 'user', text: textOf(content) }
  return { from: String(type).endsWith('_output') ? 'tool' : 'model', text: '' }
}

const flat = (tool: Body): readonly Body[] =>
  tool['type'] === 'namespace'
    ? (tool['tools'] as Body[]).map((inner) => ({ ...inner, namespace: tool['name'] }))
    : [tool]

const callItem = ({ id, tool, input }: Call) => {
  const call = {
    call_id: id,
    name: tool.name,
    status: 'completed',
    ...(tool.namespace && { namespace: tool.namespace }),
  }
  return typeof input === 'string'
    ? { type: 'custom_tool_call', id: `ctc_${id}`, ...call, input }
    : { type: 'function_call', id: `fc_${id}`, ...call, arguments: JSON.stringify(input) }
}

const itemsOf = ({ number, thinking, text, calls }: ProviderAnswer): readonly Body[] => [
  ...(thinking
    ? [
        {
          type: 'reasoning',
          id: idOf('rs', number),
          summary: [{ type: 'summary_text', text: thinking }],
          encrypted_content: Buffer.from(`thinking ${number}`).toString('base64'),
        },
      ]
    : []),
  ...(text
    ? [
        {
          type: 'message',
          id: idOf('msg', number),
          role: 'assistant',
          status: 'completed',
          phase: calls.length > 0 ? 'commentary' : 'final_answer',
          content: [{ type: 'output_text', text, annotations: [] }],
        },
      ]
    : []),
  ...calls.map(callItem),
]

export const responses: Api = {
  path: /\/responses$/,
  modelOf: ({ model }) => String(model),
  historyOf: ({ input }) =>
    typeof input === 'string' ? [{ from: 'user', text: input }] : (input as Body[]).map(entryOf),
  toolsOf: ({ tools = [] }) => (tools as Body[]).flatMap(flat).map(toolOf),
  isStream: ({ stream }) => stream === true,
  write: (answer) => {
    const { input, cached, output, thinking } = answer.tokens
    const items = itemsOf(answer)
    const whole = {
      id: idOf('resp', answer.number),
      object: 'response',
      created_at: Math.floor(Date.now() / 1000),
      status: 'completed',
      model: answer.model,
      output: items,
      usage: {
        input_tokens: input + cached,
        input_tokens_details: { cached_tokens: cached },
        output_tokens: output + thinking,
        output_tokens_details: { reasoning_tokens: thinking },
        total_tokens: input + cached + output + thinking,
      },
    }
    const started = { ...whole, status: 'in_progress', output: [], usage: null }
    const events = [
      { type: 'response.created', response: started },
      ...items.flatMap((item, output_index) => [
        { type: 'response.output_item.added', output_index, item },
        { type: 'response.output_item.done', output_index, item },
      ]),
      { type: 'response.completed', response: whole },
    ]
    return {
      whole,
      events: events.map((data, i) => ({ event: data.type, data: { ...data, sequence_number: i } })),
    }
  },
}
