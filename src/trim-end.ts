/**
 * A text without the characters at its end that a pattern of one character fits. As a single pattern, `/[…]+$/`, the search
 * would begin anew at each of them.
 */
export const trimEndMatching = (text: string, character: RegExp): string => {
  let end = text.length
  while (end > 0 && character.test(text[end - 1]!)) end -= 1
  return text.slice(0, end)
}
