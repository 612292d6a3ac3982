import { version } from '../../base/version.ts'
import { type Html, markup, none } from '../../transcript/html/markup.ts'
import { icon, iconSprite } from '../../transcript/html/icons.ts'
import { namespacePath, readInvitePath, signInPath } from './links.ts'
import type { Viewer } from './viewer.ts'

const mark = markup`<svg viewBox="0 0 22 22" aria-hidden="true"><rect class="logo-page" x="1" y="1" width="20" height="20" rx="5"/><path class="logo-mark" d="M7 4.5v13M11 7h6M11 11h4M11 15h5.5"/><circle class="logo-dot" cx="7" cy="7" r="2.4"/></svg>`

/** The first letters of a name, for the round badge of a user. */
export const initials = (name: string): string =>
  [...name.replaceAll(/[^\p{L}\p{N}]/gu, '')].slice(0, 2).join('').toUpperCase()

const link = (href: string, text: Html, path: string): Html =>
  path.split('?')[0] === href
    ? markup`<a href="${href}" aria-current="page">${text}</a>`
    : markup`<a href="${href}">${text}</a>`

/** The link to a namespace, which is marked on all pages beneath it. */
const namespaceLink = (slug: string, path: string): Html => {
  const href = namespacePath(slug)
  const name = markup`<bdi>@${slug}</bdi>`
  return path.startsWith(`${href}/`)
    ? markup`<a href="${href}" aria-current="true">${name}</a>`
    : link(href, name, path)
}

/** Whether a sign-in leads back to this path: only to pages of namespaces, traces and invites; the address of a sign-in holds a code. */
const leadsBack = (path: string): boolean => path.startsWith('/@') || readInvitePath(path) !== undefined

const account = ({ user, isKnown, path }: Viewer): Html => {
  if (!isKnown) return none
  if (!user) return markup`<a class="btn" href="${signInPath(leadsBack(path) ? path : '/')}">Sign in</a>`
  const letters = initials(user.displayName ?? '') || initials(user.slugs[0] ?? '')
  return markup`<a class="who me" href="/settings" aria-label="${letters}: your settings"><bdi aria-hidden="true">${letters}</bdi></a>`
}

/** The words of the present search, so that the field shows them. */
const wordsIn = (path: string): string =>
  path.startsWith('/search?') ? (new URLSearchParams(path.slice(path.indexOf('?'))).get('q') ?? '') : ''

const searchField = (path: string): Html =>
  markup`<form class="field" role="search" action="/search"><label for="q" class="vh">Search sessions</label>${icon('search')}<input id="q" name="q" type="search" placeholder="Search sessions" maxlength="400" autocomplete="off" value="${wordsIn(path)}"><kbd aria-hidden="true">/</kbd></form>`

/** The part of every page above its content, from the beginning of the body. */
export const startOfShell = (viewer: Viewer, hasOutline = false): Html => {
  const { user, path } = viewer
  const own = (user?.slugs ?? []).map((slug) => namespaceLink(slug, path))
  const skip = hasOutline ? markup`<a class="skip" href="#outline">Skip to the outline</a>` : none
  return markup`${iconSprite}<a class="skip" href="#main">Skip to the content</a>${skip}
<header class="bar"><div>
<a class="brand" href="/" aria-label="Tracebook, sessions">${mark}<span class="word">tracebook</span></a>
<nav aria-label="Site">${link('/', markup`Sessions`, path)}${own}${link('/help', markup`Help`, path)}</nav>
${searchField(path)}
${account(viewer)}
</div></header>
`
}

/** The part of every page below its content. */
export const endOfShell: Html = markup`<footer class="site"><div><span>Tracebook ${version}</span><a href="/help">Help</a><a href="/docs">API</a></div></footer>
`
