import type { FeedTrace } from '../../contract/feed.ts'
import type { Hit, SearchAnswer, SearchResult } from '../../contract/search.ts'
import { agentAndModel } from '../../transcript/agent-names.ts'
import { listedTitleOf } from '../../transcript/head.ts'
import { icon } from '../../transcript/html/icons.ts'
import { type Html, markup, none } from '../../transcript/html/markup.ts'
import { visible, visibleLine } from '../../transcript/visible.ts'
import { dayHtml } from './days.ts'
import { tracePath } from './links.ts'
import type { Page } from './page.ts'
import { leftOutHtml, zoneHtml } from './query-notes.ts'
import { plural } from './row-facts.ts'
import { aheadHtml, authorHtml, olderLink, placeHtml, timeOf } from './trace-list.ts'

/** A link to another search. */
export type OtherSearch = { readonly label: string; readonly q: string }

/** A looser search that finds something, and how it is looser: without a field or a word, for example. */
export type Offer = {
  readonly how: 'without' | 'any time' | 'unquoted' | 'in parts' | 'other forms' | 'words only' | 'any word'
  readonly what: string
  readonly q: string
  readonly sessions: number
  /** Whether there are no more sessions than these. */
  readonly isExact: boolean
}

/** A value of a field among the results: its count, and the search that is narrowed to it. */
export type Narrower = OtherSearch & { readonly count: number }

const sorts = ['relevance', 'newest'] as const
type Sort = (typeof sorts)[number]

type SearchView = {
  readonly q: string
  readonly sort: Sort
  /** The sessions that have started sub-agents among the results, by the ids of these. */
  readonly parents: ReadonlyMap<string, FeedTrace>
  /** Undefined before anything was searched for. */
  readonly answer: SearchAnswer | undefined
  /** Other searches, where this one finds nothing. */
  readonly offers: readonly Offer[]
  /** The fields in `q`, each linked to the search without it. */
  readonly fields: readonly OtherSearch[]
  /** Fields that could be added. */
  readonly suggestions: readonly OtherSearch[]
  readonly narrower: readonly { readonly name: string; readonly values: readonly Narrower[] }[]
  /** The time zone of the days in `q`; undefined if it has none. */
  readonly zone: string | undefined
  /** The present time, in milliseconds since 1970. */
  readonly now: number
}

const pathOf = (q: string, sort: Sort): string =>
  `/search?${new URLSearchParams({ q, ...(sort === 'relevance' ? {} : { sort }) }).toString()}`

const placeNames = {
  prompt: 'Prompt',
  answer: 'Answer',
  thinking: 'Thinking',
  call: 'Call of a tool',
  output: 'Output',
  system: 'System',
  trace: 'About the session',
} as const

const snippetHtml = ({ text, marks }: Hit['snippet']): Html => {
  const pieces: Html[] = []
  let at = 0
  for (const [start, end] of marks) {
    pieces.push(markup`${visible(text.slice(at, start))}<mark>${visible(text.slice(start, end))}</mark>`)
    at = end
  }
  return markup`${pieces}${visible(text.slice(at))}`
}

const hitHtml = (hit: Hit, slug: string, externalId: string): Html => {
  const iso = new Date(hit.at).toISOString()
  // In prose a snippet has no line ends: one with them is of code in a fence.
  const code = hit.in === 'call' || hit.in === 'output' || hit.snippet.text.includes('\n') ? ' mono' : ''
  return markup`<li><time class="at" datetime="${iso}" data-shows="time">${iso.slice(11, 16)}</time>
<div class="in"><span class="role">${placeNames[hit.in ?? 'trace']}</span><a class="name${code}" href="${tracePath(slug, externalId, hit.messageExternalId)}" dir="auto">${snippetHtml(hit.snippet)}</a></div></li>
`
}

const parentHtml = (parent: FeedTrace | undefined): Html =>
  parent
    ? markup`<span>${icon('sub-agent')}sub-agent of <a href="${tracePath(parent.namespace.slug, parent.externalId)}"><bdi>${listedTitleOf(new Map(Object.entries(parent)))}</bdi></a></span>`
    : none

const resultHtml = ({ trace, hits, more }: SearchResult, { parents, now }: SearchView): Html => {
  const { namespace, externalId } = trace
  const path = tracePath(namespace.slug, externalId)
  const began = timeOf(trace)
  const agent = agentAndModel(trace)
  return markup`<section class="found"><h2><a href="${path}" dir="auto">${listedTitleOf(new Map(Object.entries(trace)))}</a></h2>
<div class="meta">${authorHtml(trace)}${dayHtml(began, now)}${aheadHtml(trace)}${
    agent === '' ? none : markup`<span><bdi>${agent}</bdi></span>`
  }${parentHtml(parents.get(trace.id))}${placeHtml(trace)}</div>
<ol class="list">${hits.map((hit) => hitHtml(hit, namespace.slug, externalId))}</ol>
${more === 0 ? none : markup`<p><a class="btn bare" href="${path}">${more.toLocaleString('en')} more in this session</a></p>`}</section>
`
}

const chips = ({ fields, suggestions, sort }: SearchView): Html =>
  fields.length + suggestions.length === 0
    ? none
    : markup`<nav class="chips" aria-label="Filters">${fields.map(
        ({ label, q }) =>
          markup`<a class="chip on" href="${pathOf(q, sort)}" aria-label="Without ${label}"><b>${visibleLine(label)}</b>${icon('close')}</a>`,
      )}${suggestions.map(({ label, q }) => markup`<a class="chip" href="${pathOf(q, sort)}">${label}</a>`)}</nav>
`

const order = ({ q, sort }: SearchView): Html =>
  markup`<nav class="seg push" aria-label="Order">${sorts.map((one) => {
    const label = one === 'relevance' ? 'Best' : 'Newest'
    return one === sort
      ? markup`<a href="${pathOf(q, one)}" aria-current="page">${label}</a>`
      : markup`<a href="${pathOf(q, one)}">${label}</a>`
  })}</nav>`

/** The best hit of each session, for the list below the field where people type; the script of pages makes its options of them. */
export const typedHits = (answer: SearchAnswer): Html =>
  markup`<ul data-says="${figures(answer)}">${answer.results.map(({ trace, hits: [hit] }) => {
    const { namespace, externalId } = trace
    const path = tracePath(namespace.slug, externalId, hit?.messageExternalId)
    return markup`<li data-href="${path}"><span dir="auto">${listedTitleOf(new Map(Object.entries(trace)))}</span>${
      hit ? markup`<span class="soft" dir="auto">${snippetHtml(hit.snippet)}</span>` : none
    }</li>
`
  })}</ul>
`

const through = ({ indexedThrough }: SearchAnswer): Html => {
  const iso = new Date(indexedThrough).toISOString()
  return markup`<time datetime="${iso}" data-shows="time">${iso.slice(11, 16)}</time>`
}

const figures = ({ results, total: { value, exact }, complete }: SearchAnswer): string => {
  const places = results.reduce((sum, { hits, more }) => sum + hits.length + more, 0)
  const sessions = plural(value, 'session')
  if (results.length === value && exact) return `${plural(places, 'place')} in ${sessions}.`
  return exact || complete ? `${sessions}.` : `${sessions} among the newest.`
}

const offerText = ({ how, what }: Offer): Html => {
  const words = markup`<b dir="auto">${visibleLine(what)}</b>`
  switch (how) {
    case 'without':
      return markup`Without ${words}`
    case 'any time':
      return markup`At any time, without ${words}`
    case 'unquoted':
      return markup`Without quotation marks`
    case 'in parts':
      return markup`In parts: ${words}`
    case 'other forms':
      return markup`In other forms: ${words}`
    case 'words only':
      return markup`Only the words ${words}`
    case 'any word':
      return markup`Any of the words`
  }
}

const offerHtml = (offer: Offer, sort: Sort): Html =>
  markup`<li><a href="${pathOf(offer.q, sort)}">${offerText(offer)}</a> <span class="soft num">${offer.isExact ? none : markup`at least `}${plural(offer.sessions, 'session')}</span></li>`

const nothing = ({ q, sort, offers }: SearchView, answer: SearchAnswer): Html => {
  const meant = (answer.meant ?? []).map(
    ({ text, instead }) =>
      markup`<li>Do you mean <a href="${pathOf(
        q.replace(text, () => instead),
        sort,
      )}"><b>${visibleLine(instead)}</b></a>?</li>`,
  )
  const found = offers.map((offer) => offerHtml(offer, sort))
  const older = answer.complete ? none : olderLink('/search', { q, sort }, answer.nextCursor)
  return markup`<div class="blank left"><h2>Nothing for “<bdi>${visibleLine(q)}</bdi>”</h2>
<p>Searched ${answer.complete ? 'all' : 'the newest'} sessions that you may read, through ${through(answer)}. One message has to hold all that you look for, whole or as
parts of a name (<code>getUserName</code> is found by <code>user</code>, not by <code>us</code>).</p>
${meant.length === 0 ? none : markup`<ul class="offers">${meant}</ul>`}${older}${
    found.length === 0
      ? none
      : markup`<h3 id="offers">These find something</h3><ul class="offers" aria-labelledby="offers">${found}</ul>`
  }</div>
`
}

const beginning = markup`<div class="blank left"><h2>Search what your agents did</h2>
<p>In every session that you may read: prompts, answers, thinking, calls of tools and their output. All words have to stand in one message.</p>
<dl class="facts"><dt><code>"flag needs an argument"</code></dt><dd>these words behind one another</dd>
<dt><code>parser -test</code></dt><dd>without a word</dd><dt><code>jest OR vitest</code></dt><dd>one of both</dd>
<dt><code>http/app.ts</code></dt><dd>a part of a path, or of a name: <code>getUserName</code> is found by <code>user</code></dd>
<dt><code>has:error in:output tool:Bash</code></dt><dd>also <code>agent: model: role: author: project: namespace: branch: is:public</code></dd>
<dt><code>from:2026-05-06 to:yesterday</code></dt><dd>whole days; <code>since:7d</code> for the last seven</dd></dl></div>
`

const found = (view: SearchView, answer: SearchAnswer): Html => {
  const { q, sort } = view
  if (answer.results.length === 0) return nothing(view, answer)
  return markup`<div class="row"><p class="soft" data-says><b>${figures(answer)}</b> Indexed through ${through(answer)}.</p>${order(view)}</div>
${answer.results.map((result) => resultHtml(result, view))}${olderLink('/search', { q, sort }, answer.nextCursor)}`
}

/** What the numbers beside the values of fields count. */
const counted = ({ total: { value, exact } }: SearchAnswer): string =>
  exact
    ? `Numbers of sessions, of all ${value.toLocaleString('en')} that were found.`
    : `Numbers of sessions, of ${value.toLocaleString('en')} that were found; older ones were not looked at.`

const narrowing = ({ narrower, sort, answer }: SearchView): Html =>
  narrower.length === 0 || !answer
    ? none
    : markup`${narrower.map(
        ({ name, values }) => markup`<section><h2>${name}</h2><ul>${values.map(
          ({ label, q, count }) =>
            markup`<li><a href="${pathOf(q, sort)}"><bdi>${visibleLine(label)}</bdi></a><span class="push num">${count.toLocaleString('en')}</span></li>`,
        )}</ul></section>
`,
      )}<p>${counted(answer)}</p>`

/** `/search`: the results by session, with the words marked. */
export const searchPage = (view: SearchView): Page => ({
  title: view.q === '' ? 'Search' : `${visibleLine(view.q)}: search`,
  name: 'search',
  heading: markup`<h1 class="vh">Search</h1>`,
  layout: 'two',
  content: markup`${chips(view)}${leftOutHtml(view.answer?.notUnderstood ?? [])}${zoneHtml(view.zone)}${view.answer ? found(view, view.answer) : beginning}`,
  aside: narrowing(view),
})
