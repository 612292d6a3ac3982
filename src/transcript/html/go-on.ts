import { icon } from './icons.ts'
import type { GoOn } from './links.ts'
import { type Html, markup, none } from './markup.ts'

/** The link to how a session goes on from a message, with its words or only its icon. Scripts copy the command instead. */
export const goOnHtml = (goOn: GoOn | undefined, hasWords: boolean): Html => {
  if (!goOn) return none
  const { href, word } = goOn
  const words = hasWords ? markup`<span>Continue from here</span>` : markup`<span class="vh">Continue from here</span>`
  return markup`<a class="go-on" href="${href}" data-at="${word}" title="Continue from here">${icon('terminal')}${words}</a>`
}
