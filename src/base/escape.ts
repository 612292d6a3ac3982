/** Control and format characters (also those that change the direction of text), line separators, lone surrogates. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

const escapeCharacter = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/**
 * Makes text from servers and files safe to print on one line: characters that control the terminal, or are invisible, become
 * JSON escapes such as `\u001b`. JSON on one line stays the same document.
 */
export const escapeControls = (text: string): string => text.replace(UNSAFE, escapeCharacter)

/** The same for text of several lines. */
export const escapeControlsInLines = (text: string): string => text.split('\n').map(escapeControls).join('\n')
