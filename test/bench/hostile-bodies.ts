/** The worst bodies there are: by how many values, by how long, by how deep, by how odd. */

const MB = 1_000_000

const json = (value: unknown) => JSON.stringify(value)
const batch = (messages: unknown[]) => json({ messages })
const message = (i: number, more: object) => ({ externalId: `m${i}`, role: 'assistant', order: i, ...more })
const parts = (count: number, content: object) => Array.from({ length: count }, () => content)
const call = (name: string) => ({ type: 'tool_call', content: { callId: 'c', toolName: name, args: {} } })

/** Bodies of a batch. */
export const batches = [
  `{"messages":[${'{},'.repeat(5 * MB)}{}]}`,
  `{"messages":[${'[['.repeat(4 * MB)}`,
  `{"messages":[{"externalId":"m","role":"user","parts":[{"type":"text","content":${'{"a":'.repeat(2 * MB)}1${'}'.repeat(2 * MB)}}]}]}`,
  batch(Array.from({ length: 10 }, (_, i) => message(i, { parts: parts(2_000, call(`tool ${i}`)) }))),
  batch(Array.from({ length: 10 }, (_, i) => message(i, { parts: [call('x'.repeat(900_000))] }))),
  batch([
    message(0, { parts: [{ type: 'tool_call', content: { callId: 'c', toolName: 't', args: { n: '9' } } }] }),
  ]).replace('"9"', `[${'12345678901234567890123,'.repeat(150_000)}1]`),
  batch(
    Array.from({ length: 40 }, (_, i) => ({ ...message(i, { textContent: '@a/'.repeat(130_000) }), role: 'user' })),
  ),
  batch([message(0, { textContent: '\\u0000'.repeat(MB) })]),
  batch([{ ...message(0, {}), ...Object.fromEntries(Array.from({ length: 190_000 }, (_, i) => [`k${i}`, i])) }]),
]
export const trace = { title: 'x'.repeat(MB / 2), projectPath: '/x'.repeat(MB / 8), agentId: 'x'.repeat(MB / 8) }
