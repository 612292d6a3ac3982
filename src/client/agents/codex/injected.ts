/** Elements that the CLI adds to prompts. Their closing tag may be missing. */
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

/** Elements around text that the user typed: a command for the shell. */
const TYPED = ['user_shell_command']

/** Other elements of the CLI have names of several words, unlike elements of HTML. */
const SEVERAL_WORDS = /^[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)+$/

const opening = /^<([A-Za-z][\w-]*)(?:\s[^>]*)?>/

/** The index at which an element that the CLI has put in front ends; 0 if the text does not begin with one. */
const endOfInjected = (text: string): number => {
  const isGuide = text.startsWith('# AGENTS.md')
  const name = isGuide ? 'INSTRUCTIONS' : opening.exec(text)?.[1]
  if (name === undefined || TYPED.includes(name)) return 0
  const isKnown = isGuide || KNOWN.includes(name)
  if (!isKnown && !SEVERAL_WORDS.test(name)) return 0
  const closing = `</${name}>`
  // The last closing tag, because the element may contain text that quotes its own tags.
  const end = text.lastIndexOf(closing)
  if (end !== -1) return end + closing.length
  return isKnown ? text.length : 0
}

/** The text without the elements that the CLI has put in front of it (README, rule 3). */
const withoutInjected = (text: string): string => {
  let rest = text
  for (let start = text.trimStart(); ; start = rest.trimStart()) {
    const end = endOfInjected(start)
    if (end === 0) return rest
    rest = start.slice(end).trimStart()
  }
}

/** A text in a user's message. `isImage`: it replaces an image. */
export type UserText = { readonly text: string; readonly isImage: boolean }

const heading = /^## My request(?: for Codex)?:[ \t]*/gm

/** The text after the last such heading, which the apps put above what was typed; undefined if there is no heading. */
const requestIn = ({ text, isImage }: UserText): string | undefined => {
  const last = isImage || !text.includes('## My request') ? undefined : [...text.matchAll(heading)].at(-1)
  return last && text.slice(last.index + last[0].length).trim()
}

/** Whether a text is only the closing tag of an element around an image, which is a content block of its own. */
const isEndOfImage = (text: string): boolean => text.trim() === '</image>'

/** The texts of a user's message that the user typed (README, rule 3). */
export const typedTexts = (texts: readonly UserText[]): readonly string[] => {
  const typed = texts
    .filter(({ text }) => !isEndOfImage(text))
    .map((one) => (one.isImage ? one : { ...one, text: withoutInjected(one.text) }))
    .filter(({ text }) => text.trim() !== '')
  const at = typed.findLastIndex((one) => requestIn(one) !== undefined)
  const [before, after] = [typed.slice(0, at), typed.slice(at + 1)]
  const request = at === -1 ? undefined : requestIn(typed[at]!)
  // If nothing follows the heading, what the user typed comes before it.
  const hasRequest = request !== undefined && (request !== '' || after.some(({ isImage }) => !isImage))
  const kept = hasRequest ? [...before.filter(({ isImage }) => isImage), { text: request }, ...after] : typed
  return kept.map(({ text }) => text)
}
