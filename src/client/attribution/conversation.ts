import { atOnce } from '../../base/json/steps.ts'
import { type Message, readMessage } from '../../transcript/message.ts'
import { isPrompt } from '../../transcript/turns.ts'
import type { PastMessages } from '../api/history.ts'

/** A message with its parts, as the API has it. */
export type StoredMessage = PastMessages['messages'][number]
type Part = NonNullable<StoredMessage['parts']>[number]

/** Reads a page of a session that has some messages before the one with this externalId, and that. */
export type ReadAround = (externalId: string) => Promise<readonly StoredMessage[]>

/** What led to a call. */
export type Context = {
  /** The last prompt before the call. */
  readonly prompt: StoredMessage | undefined
  /** The last message after it in which the agent said something, with only what it said before the call. */
  readonly words: StoredMessage | undefined
  /** The message with only the call. */
  readonly call: StoredMessage | undefined
}

const readOf = (message: StoredMessage): Message => atOnce(readMessage(JSON.stringify(message)))

/** Messages from one of them back to the first, read page by page. */
async function* backwards(readAround: ReadAround, externalId: string): AsyncGenerator<StoredMessage, void> {
  let [from, isFirst] = [externalId, true]
  for (;;) {
    const page = await readAround(from)
    const at = page.findIndex((message) => message.externalId === from)
    yield* page.slice(0, isFirst ? at + 1 : Math.max(at, 0)).toReversed()
    if (at <= 0) return
    ;[from, isFirst] = [page[0]!.externalId, false]
  }
}

const isCall = (part: Part, callId: string): boolean => part.type === 'tool_call' && part.content?.callId === callId

const isWords = (part: Part): boolean => part.type === 'text' && (part.content?.text ?? '').trim() !== ''

/** What the agent said in a message, up to one of its calls if it has that; undefined if nothing. */
const wordsOf = (message: StoredMessage, callId: string): StoredMessage | undefined => {
  const { parts = [], role, textContent } = message
  if (role !== 'assistant') return undefined
  const end = parts.findIndex((part) => isCall(part, callId))
  const said = parts.slice(0, end < 0 ? parts.length : end).filter(isWords)
  if (said.length > 0) return { ...message, parts: said }
  return end < 0 && textContent?.trim() ? { ...message, parts: [] } : undefined
}

/** What led to a call, which a message has. @throws RequestFailed */
export const contextOf = async (readAround: ReadAround, externalId: string, callId: string): Promise<Context> => {
  let [words, call] = [undefined as StoredMessage | undefined, undefined as StoredMessage | undefined]
  for await (const message of backwards(readAround, externalId)) {
    if (message.externalId === externalId) {
      const parts = (message.parts ?? []).filter((part) => isCall(part, callId))
      call = parts.length > 0 ? { ...message, parts } : undefined
    } else if (isPrompt(readOf(message))) return { prompt: message, words, call }
    words ??= wordsOf(message, callId)
  }
  return { prompt: undefined, words, call }
}

/** The text of a message. */
export const textOf = (message: StoredMessage): string => {
  const { parts, textContent = '' } = readOf(message)
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.length > 0 ? texts.join('\n\n') : textContent
}

/**
 * Gives the last prompt before messages of one session; undefined where it has none. Ask for later messages first: what was read for them is not read
 * again. @throws RequestFailed
 */
export const newPromptBefore = (readAround: ReadAround) => {
  const known = new Map<string, StoredMessage | undefined>()
  return async (externalId: string): Promise<StoredMessage | undefined> => {
    if (known.has(externalId)) return known.get(externalId)
    const passed: string[] = []
    let prompt: StoredMessage | undefined
    for await (const message of backwards(readAround, externalId)) {
      if (passed.length > 0 && isPrompt(readOf(message))) {
        prompt = message
        break
      }
      passed.push(message.externalId)
    }
    for (const id of passed) known.set(id, prompt)
    return prompt
  }
}
