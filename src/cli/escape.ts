/** Controls and escapes, what turns the direction of letters or is not seen, other ends of lines, halves of characters. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

const escaped = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/**
 * A text of foreign origin on one line of a terminal: what a terminal would obey, or a person not see, is shown as in JSON,
 * like `\u001b`. JSON without line breaks between its members stays the same document.
 */
export const plain = (text: string): string => text.replace(UNSEEN, escaped)

/** The same for a text of ours that has several lines. */
export const plainLines = (text: string): string => text.split('\n').map(plain).join('\n')
