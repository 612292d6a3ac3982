import type { Head } from '../head.ts'
import { icon } from './icons.ts'
import { type Html, markup, none } from './markup.ts'

/** What a page adds to the head of a session. */
type HeadParts = {
  readonly crumbs?: Html
  /** Lines of facts about the session in numbers. */
  readonly acts?: Html
  readonly tabs?: Html
  /** The session that this one comes from. */
  readonly origin?: Html | undefined
}

const line = (facts: readonly Html[]): Html => (facts.length === 0 ? none : markup`<div class="meta">${facts}</div>\n`)

const countsLine = (facts: readonly Html[]): Html =>
  facts.length === 0 ? none : markup`<div class="meta counts">${facts}</div>\n`

/** How many prompts, calls, files and messages a session has, and what it has used and cost: a line each, if something is known. */
export const countsHtml = ({ lead: { counts, used } }: Pick<Head, 'lead'>): Html => {
  const numbers = counts.map(({ count, name, isBad }) =>
    isBad ? markup`<span class="bad">${count} ${name}</span>` : markup`<span><b>${count}</b> ${name}</span>`,
  )
  return markup`${countsLine(numbers)}${countsLine(used.map((text) => markup`<span>${text}</span>`))}`
}

/** Titles with more characters are set smaller; beyond the second number nine lines of them are seen, and they are scrolled. */
const [LONG_TITLE, SCROLLED_TITLE] = [160, 400]

/** The title above a session, whole. */
export const titleHtml = (title: string): Html => {
  if (title.length <= LONG_TITLE) return markup`<h1 dir="auto">${title}</h1>`
  const scrolled = title.length > SCROLLED_TITLE ? markup` tabindex="0"` : none
  return markup`<h1 dir="auto" class="long"${scrolled}>${title}</h1>`
}

/** The head of a session: what a reader needs first; all other facts are in `All facts`. */
export const headHtml = (head: Head, { crumbs = none, acts = none, tabs = none, origin }: HeadParts = {}): Html => {
  const { title, facts, lead } = head
  const { began, day, took, agent, model, place } = lead
  const times = [
    ...(began === undefined
      ? []
      : [markup`<span><time datetime="${began.iso}" data-shows="span"><b>${day!}</b>, ${began.text}</time></span>`]),
    ...(took === undefined ? [] : [markup`<span>${icon('clock')}${took}</span>`]),
    ...(agent === undefined
      ? []
      : [
          markup`<span>${icon('agent')}<b><bdi>${agent}</bdi></b>${model === undefined ? none : markup` · <bdi>${model}</bdi>`}</span>`,
        ]),
  ]
  const all = markup`<details class="more"><summary>All facts</summary><dl class="facts">${facts.map(
    ({ name, value }) => markup`<dt>${name}</dt><dd dir="auto">${value}</dd>`,
  )}</dl></details>`
  return markup`<header class="head">${crumbs}
${titleHtml(title)}
${line(times)}${line(place === undefined ? [] : [markup`<span>${icon('branch')}<code dir="auto">${place}</code></span>`])}${line(origin ? [origin] : [])}${countsHtml(head)}<div class="acts">${acts}${all}</div>
${tabs}</header>
`
}
