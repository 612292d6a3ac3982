/**
 * Limits for texts that lists show, in characters (code points, as JSON Schema counts them). The service refuses longer ones;
 * the command line truncates them before it sends.
 */

/** Names, models, branches, names and ids of tool calls. */
export const SHORT_TEXT = 256
/** Titles, descriptions, paths and addresses. */
export const LONG_TEXT = 4_096

export const isLongerThan = (text: string, most: number): boolean =>
  text.length > most && (text.length > 2 * most || [...text].length > most)

/** Truncates a text to `most` characters, with an ellipsis as the last one; a text that is not longer stays as it is. */
export const truncateText = (text: string, most: number): string =>
  isLongerThan(text, most)
    ? `${[...text.slice(0, 2 * most)]
        .slice(0, most - 1)
        .join('')
        .trimEnd()}…`
    : text

/**
 * Removes the characters at the end of a text that match a pattern of one character. A pattern like `/[…]+$/` would take
 * quadratic time, because its search starts again at each such character.
 */
export const trimEndMatching = (text: string, character: RegExp): string => {
  let end = text.length
  while (end > 0 && character.test(text[end - 1]!)) end -= 1
  return text.slice(0, end)
}
