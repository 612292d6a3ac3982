import { type Said, saidIn } from '../support/injected.ts'

/** Elements with names of several words are the CLI's, unlike elements of HTML. Their closing tag may be missing in text that was typed. */
const SEVERAL_WORDS = /^[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)+$/

const ownRule = (name: string, text: string): 'dropped' | undefined =>
  SEVERAL_WORDS.test(name) && text.includes(`</${name}>`) ? 'dropped' : undefined

/** What a text says. In front of the element with the instructions of a file stands a heading. */
const said = (text: string): readonly Said[] => {
  const start = text.trimStart()
  if (!start.startsWith('# AGENTS.md')) return saidIn(text, 'codex', ownRule)
  const at = start.indexOf('<INSTRUCTIONS>')
  return at === -1 ? [] : saidIn(start.slice(at), 'codex', ownRule)
}

/** A text in a user's message. `isImage`: it replaces an image. */
export type UserText = { readonly text: string; readonly isImage: boolean }

type SaidText = Said & Pick<UserText, 'isImage'>

const heading = /^## My request(?: for Codex)?:[ \t]*/gm

/** The text after the last such heading, which the apps put above what was typed; undefined if there is no heading. */
const requestIn = ({ text, isImage, is }: SaidText): string | undefined => {
  const last =
    isImage || is !== 'typed' || !text.includes('## My request') ? undefined : [...text.matchAll(heading)].at(-1)
  return last && text.slice(last.index + last[0].length).trim()
}

/** Whether a text is only the closing tag of an element around an image, which is a content block of its own. */
const isEndOfImage = (text: string): boolean => text.trim() === '</image>'

const saidOfText = ({ text, isImage }: UserText): readonly SaidText[] =>
  isImage ? [{ is: 'typed', text, isImage }] : said(text).map((one) => ({ ...one, isImage }))

/** What a user's message says: what the user typed, and commands for the shell (README, rule 3). */
export const saidByUser = (texts: readonly UserText[]): readonly Said[] => {
  const all = texts.filter(({ text }) => !isEndOfImage(text)).flatMap(saidOfText)
  const at = all.findLastIndex((one) => requestIn(one) !== undefined)
  const [before, after] = [all.slice(0, at), all.slice(at + 1)]
  const request = at === -1 ? undefined : requestIn(all[at]!)
  // If nothing follows the heading, what the user typed comes before it.
  const hasRequest = request !== undefined && (request !== '' || after.some(({ isImage }) => !isImage))
  if (!hasRequest) return all
  return [...before.filter(({ isImage }) => isImage), { is: 'typed', text: request }, ...after]
}
