/**
 * Removes the characters at the end of a text that match a pattern of one character. A pattern like `/[…]+$/` would take
 * quadratic time, because its search starts again at each such character.
 */
export const trimEndMatching = (text: string, character: RegExp): string => {
  let end = text.length
  while (end > 0 && character.test(text[end - 1]!)) end -= 1
  return text.slice(0, end)
}
