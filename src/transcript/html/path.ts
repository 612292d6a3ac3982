import { type Html, markup } from './markup.ts'

/** A longer text is hardly the name of a file. */
const MOST = 1_024

/** The name of a file as HTML, with places where a narrow line may break: after a slash, and before a dot. */
export const pathHtml = (path: string): Html => {
  if (path.length > MOST || !/[/\\.]/.test(path)) return markup`${path}`
  const [first = '', ...others] = path.split(/(?<=[^/\\][/\\])(?=.)|(?<=[^/\\.])(?=\.)/s)
  return markup`${first}${others.map((one) => markup`<wbr>${one}`)}`
}
