import type { Highlight } from '../highlight.ts'
import { type Inline, type Prose, plainText } from '../prose.ts'
import { slices } from '../slices.ts'
import { type Html, markup, none } from './markup.ts'

/** Headings in a message are below those of the page. */
const headings = [
  (content: Html) => markup`<h4>${content}</h4>`,
  (content: Html) => markup`<h5>${content}</h5>`,
  (content: Html) => markup`<h6>${content}</h6>`,
] as const

const join = (pieces: Iterable<Html>): Html => markup`${[...pieces]}`

/** Links are not links here: their address is shown as text after them. */
const address = (said: string, where: string): Html =>
  where === '' || where === said ? none : markup` <span class="address">(${where})</span>`

const inline = (one: Inline): Html => {
  switch (one.is) {
    case 'text':
      return markup`${one.text}`
    case 'code':
      return markup`<code>${one.text}</code>`
    case 'strong':
      return markup`<strong>${inlines(one.content)}</strong>`
    case 'emphasis':
      return markup`<em>${inlines(one.content)}</em>`
    case 'struck':
      return markup`<s>${inlines(one.content)}</s>`
    case 'link':
      return markup`<span class="link">${inlines(one.content)}</span>${address(plainText(one.content), one.address)}`
    case 'image':
      return markup`<span class="link">[Picture: ${plainText(one.content)}]</span>${address('', one.address)}`
    case 'break':
      return markup`<br>`
    case 'space':
      return markup`\n`
  }
}

const inlines = (content: readonly Inline[]): Html => join(content.map(inline))

/** Code, step by step, coloured if its language is known. */
export function* code(text: string, language: string, highlight: Highlight): Generator<Html, void> {
  yield markup`<pre class="code" tabindex="0"><code>`
  for (const spans of highlight(text, language))
    yield join(
      spans.map(({ text, scope }) =>
        scope === undefined ? markup`${text}` : markup`<span class="hljs-${scope}">${text}</span>`,
      ),
    )
  yield markup`</code></pre>`
}

const cell = (content: readonly Inline[], isHead: boolean): Html =>
  isHead ? markup`<th>${inlines(content)}</th>` : markup`<td>${inlines(content)}</td>`

const row = (cells: readonly (readonly Inline[])[], i: number): Html =>
  markup`<tr>${cells.map((content) => cell(content, i === 0))}</tr>`

/** An item of a list. In a tight list its paragraphs have no space around them. */
function* item(content: readonly Prose[], isTight: boolean, highlight: Highlight): Generator<Html, void> {
  yield markup`<li>`
  for (const one of content)
    if (isTight && one.is === 'paragraph') yield inlines(one.content)
    else yield* block(one, highlight)
  yield markup`</li>`
}

function* block(one: Prose, highlight: Highlight): Generator<Html, void> {
  switch (one.is) {
    case 'paragraph':
      return yield markup`<p dir="auto">${inlines(one.content)}</p>`
    case 'heading':
      return yield headings[Math.min(one.level, headings.length) - 1]!(inlines(one.content))
    case 'code':
      return yield* code(one.text, one.language.split(/\s/, 1)[0] ?? '', highlight)
    case 'quote':
      yield markup`<blockquote>`
      yield* prose(one.content, highlight)
      return yield markup`</blockquote>`
    case 'list': {
      yield one.start === undefined ? markup`<ul>` : markup`<ol start="${one.start}">`
      for (const content of one.items) yield* item(content, one.isTight, highlight)
      return yield one.start === undefined ? markup`</ul>` : markup`</ol>`
    }
    case 'table':
      yield markup`<div class="scroll" tabindex="0"><table>`
      for (const [i, cells] of one.rows.entries()) yield row(cells, i)
      return yield markup`</table></div>`
    case 'rule':
      return yield markup`<hr>`
    case 'plain':
      return yield* plain(one.text)
  }
}

/** Text as it is, with its line ends. */
export function* plain(text: string): Generator<Html, void> {
  yield markup`<p class="plain" dir="auto">`
  for (const slice of slices(text)) yield markup`${slice}`
  yield markup`</p>`
}

/** The parts of a text that was parsed as Markdown. */
export function* prose(parts: readonly Prose[], highlight: Highlight): Generator<Html, void> {
  for (const part of parts) yield* block(part, highlight)
}
