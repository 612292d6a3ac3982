/** A character that a terminal may act on as it is pasted, or that changes how others are shown. */
const control = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

const bytesOf = (text: string): string =>
  [...new TextEncoder().encode(text)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')

/**
 * A word for a shell, quoted where it has to be. One with control characters is quoted as bash, zsh and ksh know it, so that it can be pasted: a text that
 * others have chosen cannot end the paste, and begin a line of its own.
 */
export const shellWord = (word: string): string => {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  if (!control.test(word)) return `'${word.replaceAll("'", `'\\''`)}'`
  return `$'${word.replaceAll(/[\\']/g, '\\$&').replaceAll(new RegExp(control, 'gu'), bytesOf)}'`
}
