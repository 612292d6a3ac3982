import { textOf } from './json.ts'

const MAX_LENGTH = 80

/** A title from a prompt: one line of at most 80 characters, cut between words. */
export const titleOf = (prompt: string): string => {
  const characters = [...prompt.replace(/\s+/g, ' ').trim()]
  if (characters.length <= MAX_LENGTH) return characters.join('')
  const cut = characters.slice(0, MAX_LENGTH).join('')
  const end = cut.lastIndexOf(' ')
  return `${end > 0 ? cut.slice(0, end) : [...cut].slice(0, -1).join('')}…`
}

/** A title that the agent has stored; undefined for a blank one, and for what it calls every session before it has a name. */
export const storedTitle = (title: unknown): string | undefined => {
  const text = textOf(title)?.trim()
  return text === undefined || /^new session\b/i.test(text) ? undefined : text
}
