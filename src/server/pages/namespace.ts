import type { NamespaceView } from '../../contract/namespaces.ts'
import { type Html, markup, none } from '../../transcript/html/markup.ts'
import { visibleLine } from '../../transcript/visible.ts'
import { clientHtml } from './commands.ts'
import { savedNote } from './form-parts.ts'
import { namespaceTabs } from './namespace-tabs.ts'
import type { Page } from './page.ts'
import { initials } from './shell.ts'
import {
  type FilterView,
  type OtherFilter,
  filterHtml,
  filteredListHtml,
  narrowerHtml,
  valuesHtml,
} from './list-filter.ts'
import type { SessionList } from './trace-list.ts'

/** The picture of a namespace, or the initials of its name. */
export const namespacePicture = ({ avatarUrl, displayName }: NamespaceView): Html =>
  avatarUrl === undefined
    ? markup`<span class="who big" aria-hidden="true">${initials(displayName)}</span>`
    : markup`<img class="who big" src="${avatarUrl}" alt="" width="48" height="48">`

const empty = ({ role }: NamespaceView, service: string | undefined): Html =>
  role === undefined
    ? markup`<div class="blank left"><h2>No public sessions</h2><p>What is not public here, members read after they have signed in.</p></div>\n`
    : markup`<div class="blank left"><h2>No sessions here yet</h2><p>Upload what your agents have recorded:</p>
${clientHtml(service, 'sync')}</div>
`

type ShownNamespace = {
  readonly namespace: NamespaceView
  readonly list: SessionList
  readonly filter: FilterView
  /** For members: the people who recorded sessions in the last seven days, and how many. */
  readonly week: readonly (OtherFilter & { readonly count: number })[]
  /** Whether the viewer has just left the namespace. */
  readonly hasLeft: boolean
  readonly now: number
  /** The address of the service as commands may name it. */
  readonly service: string | undefined
}

/** `/@{slug}`: a namespace with its traces: for members all of them, for others the public ones. */
export const namespacePage = ({ namespace, list, filter, week, hasLeft, now, service }: ShownNamespace): Page => {
  const { slug, displayName, description, role } = namespace
  const about = description === undefined ? none : markup`<p dir="auto">${visibleLine(description)}</p>`
  return {
    title: visibleLine(displayName) || `@${slug}`,
    name: 'namespace',
    heading: markup`<header class="row">${namespacePicture(namespace)}<div><h1 dir="auto">${visibleLine(displayName) || slug}</h1>
<div class="meta"><span>@${slug}</span>${role === undefined ? none : markup`<span class="tag">you are ${role === 'admin' ? 'an admin' : 'a member'}</span>`}</div></div></header>
${namespaceTabs(namespace, 'sessions')}`,
    layout: 'two',
    content: markup`${savedNote(hasLeft ? `You have left @${slug}.` : undefined)}${about}${filterHtml(filter, list)}${filteredListHtml(filter, list, { hasNamespaces: false, now }, empty(namespace, service))}`,
    aside: markup`${week.length === 0 ? none : valuesHtml(filter, { name: 'This week', values: week })}${narrowerHtml(filter)}`,
  }
}
