import type { Words } from '../diff.ts'
import type { CodeSpan, Highlight } from '../highlight.ts'
import { trimEndMatching } from '../../base/texts.ts'
import { readLiteral } from '../literal.ts'
import { type Inline, type Prose, plainText, readProse, withoutBox } from '../prose.ts'
import { wordSlices } from '../slices.ts'
import { icon } from './icons.ts'
import { type Html, markup, none } from './markup.ts'
import { pathHtml } from './path.ts'

const MOST_ADDRESS = 2_048

/** Headings in a message are below those of the page. */
const headings = [
  (content: Html) => markup`<h3 dir="auto">${content}</h3>`,
  (content: Html) => markup`<h4 dir="auto">${content}</h4>`,
  (content: Html) => markup`<h5 dir="auto">${content}</h5>`,
] as const

/** How prose is shown: with which colours, and whether addresses of the web are links. */
export type ProseOptions = {
  readonly highlight: Highlight
  readonly words: Words
  readonly hasLinks: boolean
  /** The levels of the headings that are open, in a text. */
  readonly levels?: number[]
}

/** How deep a heading is in its text, from 1: no level is left out, whichever the text leaves out. */
const depthOf = (level: number, levels: number[] = []): number => {
  while (levels.length > 0 && levels.at(-1)! >= level) levels.pop()
  levels.push(level)
  return Math.min(levels.length, headings.length)
}

const join = (pieces: Iterable<Html>): Html => markup`${[...pieces]}`

/** The address of a link or picture, shown as text after it. */
const address = (said: string, where: string): Html =>
  where === '' || where === said ? none : markup` <span class="address">(${where})</span>`

/** An address of the web in its normal form; undefined for any other text. */
const webAddress = (text: string): URL | undefined => {
  if (!/^https?:\/\//i.test(text) || text.length > MOST_ADDRESS) return undefined
  const url = URL.parse(text)
  return url && url.username === '' && url.password === '' ? url : undefined
}

/** A link to elsewhere. It says where it leads, unless its text is that address or host. */
const link = (content: Html, said: string, url: URL): Html => {
  const host =
    said === url.host || webAddress(said)?.host === url.host
      ? none
      : markup` <span class="address">(${url.host})</span>`
  return markup`<a href="${url.href}" rel="noopener nofollow ugc">${content}</a>${host}`
}

type Addressed = Extract<Inline, { is: 'link' | 'image' }>

const addressed = ({ is, content, address: where, href }: Addressed, hasLinks: boolean): Html => {
  const said = plainText(content)
  // A link in a link would end the outer one, so that what is inside of a link is text.
  const shown = is === 'image' ? markup`[Picture: ${said}]` : inlines(content, false)
  const url = hasLinks ? webAddress(href) : undefined
  if (url) return link(shown, said, url)
  return markup`<span class="link">${shown}</span>${address(is === 'image' ? '' : said, where)}`
}

const ADDRESS = /\bhttps?:\/\/[^\s<>"'`、。，！？；：）】」』》]+/gi
/** What ends a sentence, or a mark around an address, and is hardly a part of it. */
const AFTER_ADDRESS = /[.,;:!?*_~\]}]/
const AFTER_BRACKETS = /[.,;:!?*_~\]})]/

/** Text in which the addresses of the web are links. */
const withLinks = (text: string, hasLinks: boolean): Html => {
  if (!hasLinks || !text.includes('://')) return markup`${text}`
  const shown: Html[] = []
  let done = 0
  for (const { 0: match, index } of text.matchAll(ADDRESS)) {
    const said = trimEndMatching(match, match.includes('(') ? AFTER_ADDRESS : AFTER_BRACKETS)
    const url = webAddress(said)
    if (!url) continue
    shown.push(markup`${text.slice(done, index)}${link(markup`${said}`, said, url)}`)
    done = index + said.length
  }
  return markup`${shown}${text.slice(done)}`
}

const inline = (one: Inline, hasLinks: boolean): Html => {
  switch (one.is) {
    case 'text':
      return withLinks(one.text, hasLinks)
    case 'code':
      return markup`<code dir="ltr">${/\s/.test(one.text) ? one.text : pathHtml(one.text)}</code>`
    case 'strong':
      return markup`<strong>${inlines(one.content, hasLinks)}</strong>`
    case 'emphasis':
      return markup`<em>${inlines(one.content, hasLinks)}</em>`
    case 'struck':
      return markup`<s>${inlines(one.content, hasLinks)}</s>`
    case 'link':
    case 'image':
      return addressed(one, hasLinks)
    case 'break':
      return markup`<br>`
    case 'space':
      return markup`\n`
  }
}

const inlines = (content: readonly Inline[], hasLinks: boolean): Html =>
  join(content.map((one) => inline(one, hasLinks)))

const spanOf = ({ text, scope }: CodeSpan): Html =>
  scope === undefined ? markup`${text}` : markup`<span class="hljs-${scope}">${text}</span>`

/** Lines of code, each as HTML, coloured together; in steps. */
export function* codeLines(lines: readonly string[], language: string, how: ProseOptions): Generator<Html, Html[]> {
  const shown: Html[][] = [[]]
  for (const spans of how.highlight(lines.join('\n'), language)) {
    for (const span of spans)
      if (!span.text.includes('\n')) shown.at(-1)!.push(spanOf(span))
      else
        for (const [i, text] of span.text.split('\n').entries()) {
          if (i > 0) shown.push([])
          if (text !== '') shown.at(-1)!.push(spanOf({ text, scope: span.scope }))
        }
    yield none
  }
  return shown.map((pieces) => markup`${pieces}`)
}

/** Code, step by step, coloured if its language is known. */
export function* code(text: string, language: string, how: ProseOptions): Generator<Html, void> {
  yield markup`<pre class="code" dir="ltr" tabindex="0"><code>`
  for (const spans of how.highlight(text, language)) yield join(spans.map(spanOf))
  yield markup`</code></pre>`
}

const cell = (content: readonly Inline[], isHead: boolean, hasLinks: boolean): Html =>
  isHead ? markup`<th>${inlines(content, hasLinks)}</th>` : markup`<td>${inlines(content, hasLinks)}</td>`

const row = (cells: readonly (readonly Inline[])[], i: number, hasLinks: boolean): Html =>
  markup`<tr>${cells.map((content) => cell(content, i === 0, hasLinks))}</tr>`

const boxes = {
  done: markup`<li class="box done">${icon('done')}<span class="vh">Done: </span>`,
  open: markup`<li class="box">${icon('open')}<span class="vh">To do: </span>`,
} as const

/** An item of a list. In a tight list its paragraphs have no space around them. */
function* item(given: readonly Prose[], isTight: boolean, how: ProseOptions): Generator<Html, void> {
  const { box, content } = withoutBox(given)
  yield box === undefined ? markup`<li>` : boxes[box]
  for (const one of content)
    if (isTight && one.is === 'paragraph') yield inlines(one.content, how.hasLinks)
    else yield* block(one, how)
  yield markup`</li>`
}

function* block(one: Prose, how: ProseOptions): Generator<Html, void> {
  switch (one.is) {
    case 'paragraph':
      return yield markup`<p dir="auto">${inlines(one.content, how.hasLinks)}</p>`
    case 'heading':
      return yield headings[depthOf(one.level, how.levels) - 1]!(inlines(one.content, how.hasLinks))
    case 'code':
      return yield* code(one.text, one.language.split(/\s/, 1)[0] ?? '', how)
    case 'quote':
      yield markup`<blockquote>`
      yield* prose(one.content, how)
      return yield markup`</blockquote>`
    case 'list': {
      yield one.start === undefined ? markup`<ul dir="auto">` : markup`<ol dir="auto" start="${one.start}">`
      for (const content of one.items) yield* item(content, one.isTight, how)
      return yield one.start === undefined ? markup`</ul>` : markup`</ol>`
    }
    case 'table':
      yield markup`<div class="scroll" tabindex="0"><table dir="auto">`
      for (const [i, cells] of one.rows.entries()) yield row(cells, i, how.hasLinks)
      return yield markup`</table></div>`
    case 'rule':
      return yield markup`<hr>`
    case 'plain':
      return yield* plain(one.text, how.hasLinks)
  }
}

/** Text as it is, with its line ends. */
function* plain(text: string, hasLinks: boolean): Generator<Html, void> {
  yield markup`<p class="plain" dir="auto">`
  for (const slice of wordSlices(text)) yield withLinks(slice, hasLinks)
  yield markup`</p>`
}

/** The parts of a text that was parsed as Markdown. */
function* prose(parts: readonly Prose[], how: ProseOptions): Generator<Html, void> {
  for (const part of parts) yield* block(part, how)
}

/** Text as it was typed: only fenced code is shown otherwise. */
export function* typed(text: string, how: ProseOptions): Generator<Html, void> {
  for (const parts of readLiteral(text)) {
    yield none
    yield* prose(parts, how)
  }
}

/** Markdown text. Parsing and showing a piece of it are two steps. */
export function* written(text: string, keepsLines: boolean, how: ProseOptions): Generator<Html, void> {
  const levels: number[] = []
  for (const parts of readProse(text, { keepsLines })) {
    yield none
    yield* prose(parts, { ...how, levels })
  }
}
