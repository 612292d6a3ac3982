import { called, text } from '../browser/support/seed.ts'

/** A message of a made-up session, so many seconds after the one before it. */
export type Said = { readonly role: 'user' | 'assistant'; readonly after: number; readonly parts: readonly object[] }

export const prompt = (after: number, words: string): Said => ({ role: 'user', after, parts: [text(words)] })

export const answer = (after: number, ...parts: readonly object[]): Said => ({ role: 'assistant', after, parts })

export const thought = (seconds: number, words: string) => ({
  type: 'thinking',
  content: { text: words, durationMs: seconds * 1000 },
})

let calls = 0
const nextCall = () => `call-${++calls}`

export const read = (file: string, output: string) => called(nextCall(), 'Read', { file_path: file }, output)

export const edit = (file: string, before: string, after: string) =>
  called(nextCall(), 'Edit', { file_path: file, old_string: before, new_string: after }, 'The file has been updated.')

export const shell = (command: string, output: string, status: 'success' | 'error' = 'success') =>
  called(nextCall(), 'Bash', { command }, output, status)

const USAGE = { inputTokens: 2_400, cacheReadTokens: 61_000, outputTokens: 900, costUsd: 0.064 }

/** As the API takes them, the first at `began` (milliseconds since 1970). Each answer has used as much as is usual. */
export const messagesOf = (said: readonly Said[], began: number, model: string) => {
  let timestamp = began
  return said.map(({ role, after, parts }, order) => {
    timestamp += after * 1000
    const message = { externalId: `message-${order}`, role, order, timestamp, parts }
    return role === 'user' ? message : { ...message, model, usage: USAGE }
  })
}
