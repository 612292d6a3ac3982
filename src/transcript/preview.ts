import { truncateLine } from '../base/texts.ts'
import { readMessage } from './message.ts'
import { visibleLine } from './visible.ts'

const MOST_READ = 64 * 1024
const MOST_SHOWN = 200

/** The beginning of a text on one line; whole words, if it can be. */
export const shortened = (text: string): string => truncateLine(visibleLine(text.slice(0, 8 * MOST_SHOWN)), MOST_SHOWN)

/** What a message says, on one line of at most 200 characters; undefined for one without text, or a very long one. */
export const previewText = (message: string): string | undefined => {
  if (message.length > MOST_READ) return undefined
  const steps = readMessage(message)
  for (;;) {
    const { done, value } = steps.next()
    if (!done) continue
    const texts = value.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
    const text = texts.find((one) => one.trim() !== '') ?? value.textContent ?? ''
    return text.trim() === '' ? undefined : shortened(text)
  }
}
