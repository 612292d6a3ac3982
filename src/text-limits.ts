/**
 * How long short text may be, in characters (code points, as JSON Schema counts them). The service refuses what is longer:
 * it is shown in lists, again and again. The command line cuts it before it sends.
 */

/** Names, models, branches, names and ids of tool calls. */
export const SHORT_TEXT = 256
/** Titles, descriptions, paths and addresses. */
export const LONG_TEXT = 4_096

export const isLongerThan = (text: string, most: number): boolean =>
  text.length > most && (text.length > 2 * most || [...text].length > most)

/** The beginning of a text that is too long, with an ellipsis; any other text as it is. */
export const truncateText = (text: string, most: number): string =>
  isLongerThan(text, most)
    ? `${[...text.slice(0, 2 * most)]
        .slice(0, most - 1)
        .join('')
        .trimEnd()}…`
    : text
