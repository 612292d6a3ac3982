import type { NamespaceView } from '../../contract/namespaces.ts'
import { icon } from '../../transcript/html/icons.ts'
import { type Html, markup, none } from '../../transcript/html/markup.ts'
import { NEW_NAMESPACE, namespacePath } from './links.ts'
import type { Page } from './page.ts'
import { clientHtml } from './commands.ts'
import { type FilterView, filterHtml, filteredListHtml, narrowerHtml } from './list-filter.ts'
import type { SessionList } from './trace-list.ts'

/**
 * The sessions in a list. `own`: all sessions of the viewer's active namespace; `mine`: those of them that the viewer recorded; `public`: all
 * public sessions.
 */
export const scopes = ['own', 'mine', 'public'] as const
export type Scope = (typeof scopes)[number]

const syncHint = (service: string | undefined) => markup`<div class="blank left"><h2>No sessions here yet</h2>
<p>Upload those that your agents have recorded on your machine; they appear here while they run:</p>
${clientHtml(service, 'sync')}
<p><a href="/help">How to begin</a></p></div>
`

const tab = (scope: Scope, active: Scope, label: Html): Html => {
  const href = scope === 'own' ? '/' : `/?scope=${scope}`
  return scope === active
    ? markup`<a href="${href}" aria-current="page">${label}</a>`
    : markup`<a href="${href}">${label}</a>`
}

type Namespace = Pick<NamespaceView, 'slug' | 'type'>

type FeedView = {
  readonly list: SessionList
  readonly filter: FilterView
  readonly scope: Scope
  /** The viewer's active namespace; undefined for a viewer without a namespace. */
  readonly active: Namespace | undefined
  readonly namespaces: readonly Namespace[]
  readonly now: number
  /** The address of the service as commands may name it. */
  readonly service: string | undefined
}

/** `/`, for a viewer with a session. */
export const feedPage = ({ list, filter, scope, active, namespaces, now, service }: FeedView): Page => {
  const isOwn = scope !== 'public'
  const own = active ? tab('own', scope, markup`<bdi>@${active.slug}</bdi>`) : none
  // In a person's own namespace this list would be the same as the first.
  const mine = active?.type === 'org' || scope === 'mine' ? tab('mine', scope, markup`Mine`) : none
  const empty = isOwn
    ? syncHint(service)
    : markup`<div class="blank left"><h2>No public sessions yet</h2>
<p>A session becomes public on its own page, or with <code>tracebook share</code>.</p></div>
`
  return {
    title: 'Sessions',
    name: 'feed',
    heading: markup`<h1 class="vh">Sessions</h1>`,
    layout: 'two',
    content: markup`${filterHtml(
      filter,
      list,
      markup`<nav class="seg" aria-label="Whose sessions">${own}${mine}${tab('public', scope, markup`Public`)}</nav>`,
    )}${filteredListHtml(filter, list, { hasNamespaces: !isOwn, now }, empty)}`,
    aside: markup`<section><h2>Namespaces</h2><ul>${namespaces.map(
      (one) => markup`<li><a href="${namespacePath(one.slug)}"><bdi>@${one.slug}</bdi></a></li>`,
    )}</ul>
<p><a class="btn" href="${NEW_NAMESPACE}">${icon('plus')}New namespace</a></p></section>
${narrowerHtml(filter)}`,
  }
}

type HomeView = Pick<FeedView, 'list' | 'filter' | 'now' | 'service'> & {
  /** The address that the viewer has reached. */
  readonly origin: string
}

const hero = ({
  service,
  origin,
}: HomeView) => markup`<div class="hero"><div><h1>What your coding agents did, on the record</h1>
<p>Tracebook keeps the sessions of AI coding agents: every prompt, call and result, in the order in which they happened. You read them,
share them, and can say later what an agent did and when.</p></div>
<ol class="steps"><li><span>Log in on your machine</span>${clientHtml(service, `login --server ${service ?? origin}`)}</li>
<li><span>Upload what your agents have recorded</span>${clientHtml(service, 'sync')}</li>
<li><span>Read it here</span>${clientHtml(service, 'open')}</li></ol></div>
<h2>Public sessions</h2>
`

/** `/`, for a viewer without a session. A filtered list stands at the top. */
export const homePage = (view: HomeView): Page => {
  const { list, filter, now } = view
  const none = markup`<p>None yet. <a href="/help">How to begin</a></p>\n`
  return {
    title: 'Tracebook',
    name: 'feed',
    heading: filter.q === '' ? hero(view) : markup`<h1>Public sessions</h1>\n`,
    layout: 'wide',
    content: markup`${filterHtml(filter, list)}${filteredListHtml(filter, list, { hasNamespaces: true, now }, none)}`,
  }
}
