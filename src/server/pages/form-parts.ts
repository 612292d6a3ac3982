import { icon } from '../../transcript/html/icons.ts'
import { type Html, markup, none } from '../../transcript/html/markup.ts'

/** A note at the top of a page about what was just saved. */
export const savedNote = (saved: string | undefined): Html =>
  saved === undefined ? none : markup`<p class="note" role="status">${icon('done')}<span>${saved}</span></p>\n`

/** What is wrong with a field, beneath it. */
export const wrongHtml = (text: string | undefined): Html =>
  text === undefined ? none : markup`<span class="wrong" role="alert">${icon('warning')}${text}</span>`

/** One of several values of a field, with a line about it, which may be empty. */
export const choice = (name: string, value: string, label: string, hint: string, isChosen: boolean): Html =>
  markup`<label class="pick"><input type="radio" name="${name}" value="${value}"${isChosen ? markup` checked` : none}><span><b>${label}</b>${hint === '' ? none : markup`<span class="soft">${hint}</span>`}</span></label>\n`
