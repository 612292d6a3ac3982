/** Elements that the CLI puts in, also without an end. */
const KNOWN = [
  'INSTRUCTIONS',
  'environment_context',
  'user_instructions',
  'skill',
  'turn_aborted',
  'subagent_notification',
  'goal_context',
  'codex_internal_context',
  'recommended_plugins',
  'app-context',
  'permissions',
  'user_action',
  'image',
]

/** What the user typed, though the CLI has put it into an element: a command for the shell. */
const TYPED = ['user_shell_command']

/** Other elements of the CLI have names in several words, which those of HTML have not. */
const SEVERAL_WORDS = /^[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)+$/

const opening = /^<([A-Za-z][\w-]*)(?:\s[^>]*)?>/

/** Where the text begins that follows what the CLI has put in front; 0 when that is nothing. */
const endOfInjected = (text: string): number => {
  const isGuide = text.startsWith('# AGENTS.md')
  const name = isGuide ? 'INSTRUCTIONS' : opening.exec(text)?.[1]
  if (name === undefined || TYPED.includes(name)) return 0
  const isKnown = isGuide || KNOWN.includes(name)
  if (!isKnown && !SEVERAL_WORDS.test(name)) return 0
  const closing = `</${name}>`
  // The last one: what is put in may quote the element.
  const end = text.lastIndexOf(closing)
  if (end !== -1) return end + closing.length
  return isKnown ? text.length : 0
}

/** The text without what the CLI has put in front of it; the text itself when that is nothing (README, rule 3). */
const withoutInjected = (text: string): string => {
  let rest = text
  for (let start = text.trimStart(); ; start = rest.trimStart()) {
    const end = endOfInjected(start)
    if (end === 0) return rest
    rest = start.slice(end).trimStart()
  }
}

/** A text in a message of the user, or one that replaces an image. */
export type UserText = { readonly text: string; readonly isImage: boolean }

const heading = /^## My request(?: for Codex)?:[ \t]*/gm

/** What stands after the last heading of that kind, by which the apps mark what was typed; undefined without one. */
const requestIn = ({ text, isImage }: UserText): string | undefined => {
  const last = isImage || !text.includes('## My request') ? undefined : [...text.matchAll(heading)].at(-1)
  return last && text.slice(last.index + last[0].length).trim()
}

/** The end of an element around an image, which is a block of its own. */
const isEndOfImage = (text: string): boolean => text.trim() === '</image>'

/** The texts of a message of the user that the user typed (README, rule 3). */
export const typedTexts = (texts: readonly UserText[]): readonly string[] => {
  const typed = texts
    .filter(({ text }) => !isEndOfImage(text))
    .map((one) => (one.isImage ? one : { ...one, text: withoutInjected(one.text) }))
    .filter(({ text }) => text.trim() !== '')
  const at = typed.findLastIndex((one) => requestIn(one) !== undefined)
  const [before, after] = [typed.slice(0, at), typed.slice(at + 1)]
  const request = at === -1 ? undefined : requestIn(typed[at]!)
  // Where nothing is said after it, what the user noted stands before it.
  const isTold = request !== undefined && (request !== '' || after.some(({ isImage }) => !isImage))
  const kept = isTold ? [...before.filter(({ isImage }) => isImage), { text: request }, ...after] : typed
  return kept.map(({ text }) => text)
}
