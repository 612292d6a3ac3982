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

const bytesOf = (text: string): string =>
  [...new TextEncoder().encode(text)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')

/**
 * A word for a shell, quoted where it has to be. One with control characters is quoted as bash, zsh and ksh know it, so that it can be pasted: a text that
 * others have chosen cannot end the paste, and begin a line of its own.
 */
export const shellWord = (word: string): string => {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  if (word.search(UNSAFE) === -1) return `'${word.replaceAll("'", `'\\''`)}'`
  return `$'${word.replaceAll(/[\\']/g, '\\$&').replaceAll(UNSAFE, bytesOf)}'`
}
