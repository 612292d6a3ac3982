import type { Role } from '../../contract/namespaces.ts'
import { type Html, markup, none } from '../../transcript/html/markup.ts'
import { beneathNamespace, insightsPath, namespacePath } from './links.ts'

/** The pages of a namespace that its tabs lead to. */
const tabs = [
  { name: 'sessions', label: 'Sessions', isForAdmins: false },
  { name: 'insights', label: 'Insights', isForAdmins: false },
  { name: 'commits', label: 'Commits', isForAdmins: false },
  { name: 'members', label: 'Members', isForAdmins: false },
  { name: 'timeline', label: 'Timeline', isForAdmins: true },
  { name: 'settings', label: 'Settings', isForAdmins: true },
] as const

type TabName = (typeof tabs)[number]['name']

const pathOf = (slug: string, name: TabName): string => {
  if (name === 'sessions') return namespacePath(slug)
  return name === 'insights' ? insightsPath(slug) : beneathNamespace(slug, name)
}

type OfNamespace = { readonly slug: string; readonly role?: Role | undefined }

/** The tabs of the pages of a namespace: none for viewers who are not members, because these may open one page only. */
export const namespaceTabs = ({ slug, role }: OfNamespace, current: TabName): Html => {
  if (role === undefined) return none
  const shown = tabs.filter(({ isForAdmins }) => role === 'admin' || !isForAdmins)
  const links = shown.map(({ name, label }) =>
    name === current
      ? markup`<a href="${pathOf(slug, name)}" aria-current="page">${label}</a>`
      : markup`<a href="${pathOf(slug, name)}">${label}</a>`,
  )
  return markup`<nav class="tabs" aria-label="Namespace">${links}</nav>\n`
}

/** The heading of a page beneath that of a namespace. `beside` stands at the end of its line. */
export const namespaceHeading = (title: string, of: OfNamespace, current: TabName, beside: Html = none): Html =>
  markup`<header class="row"><h1>${title} <a class="faint" href="${namespacePath(of.slug)}"><bdi>@${of.slug}</bdi></a></h1>${beside}</header>
${namespaceTabs(of, current)}`
