import { cleanPrompt } from './clean-prompt.ts'
import type { Conversation, Turn } from './turns.ts'
import type { Summary } from './provider.ts'
import { toOneLine, shorten } from './shorten.ts'

export const MAX_TITLE = 80
const MIN_SENTENCE = 12
const MAX_PROMPT = 160
const MAX_ANSWER = 600
const MAX_LISTED_PROMPTS = 5

const hasWords = (text: string) => /[\p{L}\p{N}]/u.test(text)

const promptsOf = (turns: readonly Turn[]) => turns.filter((turn) => turn.class === 'user_message')

/** The first sentence if it is long enough, otherwise as much as fits. */
const headline = (text: string): string => {
  const [sentence = ''] = /^.*?[.!?。！？](?=\s|$|[^\x00-\x7f])/u.exec(text) ?? []
  const title = sentence.length >= MIN_SENTENCE && sentence.length <= MAX_TITLE ? sentence.replace(/[.。]$/, '') : text
  return shorten(title, MAX_TITLE)
}

/** The title from the first message with words; from a slash command only if there is no other. */
const titleOf = (turns: readonly Turn[]): string | undefined => {
  const prompts = promptsOf(turns).map(({ text }) => cleanPrompt(text))
  const first = prompts.find(({ text }) => hasWords(text))?.text
  const command = prompts.find((prompt) => prompt.command !== undefined)?.command
  return first !== undefined ? headline(first) : command && shorten(toOneLine(command), MAX_TITLE)
}

const promptLines = (turns: readonly Turn[]): string[] => {
  const prompts = promptsOf(turns)
    .map(({ text }) => cleanPrompt(text).text)
    .filter(hasWords)
  if (prompts.length === 0) return []
  const shown = prompts.slice(0, MAX_LISTED_PROMPTS).map((text) => `- ${shorten(text, MAX_PROMPT)}`)
  const more = prompts.length - shown.length
  return ['Asked:', ...shown, ...(more > 0 ? [`- and ${more} more`] : []), '']
}

const answerLines = (turns: readonly Turn[]): string[] => {
  const last = turns.findLast((turn) => turn.class === 'agent_text' && hasWords(turn.text))
  return last ? ['Last answer:', shorten(toOneLine(last.text), MAX_ANSWER), ''] : []
}

/** A title and a summary from the session's own words, without a model. */
export const extractSummary = ({ messageCount, turns }: Conversation): Summary => {
  const about = `Extracted from ${messageCount} ${messageCount === 1 ? 'message' : 'messages'}, not written by a model.`
  return { title: titleOf(turns), summary: [...promptLines(turns), ...answerLines(turns), about].join('\n') }
}
