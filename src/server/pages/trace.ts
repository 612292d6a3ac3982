import type { Visibility } from '../../contract/trace.ts'
import type { Head } from '../../transcript/head.ts'
import { headHtml } from '../../transcript/html/head.ts'
import { type IconName, icon } from '../../transcript/html/icons.ts'
import type { Child, View } from '../../transcript/html/links.ts'
import { type Html, markup, none } from '../../transcript/html/markup.ts'
import { counted } from '../../transcript/html/output.ts'
import { documentTitle } from './page.ts'
import { endOfPage, startOfPage } from './document.ts'
import { clientHtml } from './commands.ts'
import { beneathTrace, commitsPath, evidencePath, namespacePath, tracePath } from './links.ts'
import { continueMenu } from './trace-continue.ts'
import { crumbTitle, traceActions } from './trace-actions.ts'
import type { Viewer } from './viewer.ts'

/** The page of a session. */
export type TracePage = {
  readonly slug: string
  readonly externalId: string
  readonly agentId: string
  readonly head: Head
  readonly project: string | undefined
  readonly visibility: Visibility
  /** Whether the viewer may share, rename and delete the session. */
  readonly mayWrite: boolean
  /** Whether the viewer may see who did what to the session. */
  readonly maySeeHistory: boolean
  readonly revision: bigint
  /** The address of the service as commands may name it. */
  readonly service: string | undefined
  /** The address by which the viewer has reached the service. */
  readonly address: string
  /** How many messages the session has. */
  readonly count: number
  readonly view: View
  /** The range of messages on this page, by their places in the session; undefined if the page has all messages. */
  readonly part?: { readonly from: number; readonly to: number } | undefined
  /** The place of the message that the link to the page leads to; `lost` if there is no such message. */
  readonly linked?: number | 'lost' | undefined
  /** Whether the viewer has made the session public just now. */
  readonly isPublished?: boolean
  /** Whether the session may still be running, judged by the time of its last message. */
  readonly isLive: boolean
  /** How many recorded commits have lines of it, as far as the viewer may know. */
  readonly commits: number
  /** The session that this one continues, or that has started it. */
  readonly origin:
    (Pick<Child, 'path' | 'title'> & { readonly isContinued: boolean; readonly agent: string | undefined }) | undefined
  /** The number of files that the session changed. */
  readonly changed: number
  readonly preview?: Preview | undefined
  readonly viewer: Viewer
}

/** What other services show of a link to the page. `began`: when the session began, as ISO 8601 has it. */
export type Preview = {
  readonly description: string
  readonly began: string | undefined
  readonly url: string
  readonly oembed: string
}

/** How many messages a page shows of a session that has too many for one. */
export const PAGE_ROWS = 200

/** An element of the head, if its value is known. */
const meta = (name: Html, value: string | undefined): Html =>
  value === undefined ? none : markup`<meta ${name} content="${value}">\n`

const previewOf = ({ preview, head: { title, author } }: TracePage): Html => {
  if (!preview) return none
  const { description, began, url, oembed } = preview
  return markup`<meta property="og:type" content="article">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${url}">
<meta property="og:site_name" content="Tracebook">
${meta(markup`property="article:published_time"`, began)}${meta(markup`property="article:author"`, author)}${meta(markup`name="author"`, author)}<meta name="description" content="${description}">
<meta name="twitter:card" content="summary">
<link rel="alternate" type="application/json+oembed" href="${oembed}" title="${title}">
`
}

type PageLink = { readonly rel: 'prev' | 'next'; readonly href: string; readonly text: string }

const viewQuery = (view: View) => (view === 'full' ? '' : `view=${view}`)

const pathWith = ({ slug, externalId }: TracePage, ...queries: readonly string[]): string => {
  const query = queries.filter((one) => one !== '').join('&')
  return `${tracePath(slug, externalId)}${query === '' ? '' : `?${query}`}`
}

/** The links to the pages before and after this one. */
const pageLinksOf = (page: TracePage): PageLink[] => {
  const { part, count, view } = page
  if (!part) return []
  const to = (from: number) => pathWith(page, from === 0 ? '' : `from=${from}`, viewQuery(view))
  const before = Math.max(0, part.from - PAGE_ROWS)
  return [
    ...(part.from > 0
      ? [
          {
            rel: 'prev' as const,
            href: to(before),
            text: `Messages ${(before + 1).toLocaleString('en')} to ${part.from.toLocaleString('en')}`,
          },
        ]
      : []),
    ...(part.to < count
      ? [
          {
            rel: 'next' as const,
            href: to(part.to),
            text: `Messages ${(part.to + 1).toLocaleString('en')} to ${Math.min(count, part.to + PAGE_ROWS).toLocaleString('en')}`,
          },
        ]
      : []),
  ]
}

const pageNav = (page: TracePage, where: string): Html => {
  const links = pageLinksOf(page)
  if (links.length === 0) return none
  const { part, count } = page
  return markup`<nav class="turn" aria-label="${where}"><span>Messages ${(part!.from + 1).toLocaleString('en')} to ${Math.min(part!.to, count).toLocaleString('en')} of ${count.toLocaleString('en')}</span>${links.map(
    ({ rel, href, text }) =>
      markup`<a rel="${rel}" href="${href}">${rel === 'prev' ? 'Earlier: ' : 'Later: '}${text}</a>`,
  )}</nav>
`
}

const readers: Readonly<
  Record<Visibility, { readonly icon: IconName; readonly text: string; readonly isPublic: boolean }>
> = {
  public: { icon: 'public', text: 'Public', isPublic: true },
  private: { icon: 'members', text: 'Members can read', isPublic: false },
  direct: { icon: 'members', text: 'Members can read', isPublic: false },
}

const exportPath = ({ slug, externalId }: TracePage, format: string) =>
  `/v1/traces/${encodeURIComponent(externalId)}/export?format=${format}&namespace=${encodeURIComponent(slug)}`

const formats = [
  ['md', 'Markdown'],
  ['html', 'HTML, one file'],
  ['json', 'JSON, to be imported'],
] as const

/** Who can read the session; for viewers who may change that, with the link to the form. */
const readersOf = ({ slug, externalId, visibility, mayWrite }: TracePage): Html => {
  const { icon: name, text, isPublic } = readers[visibility]
  if (mayWrite)
    return markup`<a class="btn" href="${beneathTrace(slug, externalId, traceActions.visibility)}">${icon(name)}${text}</a>`
  return isPublic
    ? markup`<span class="tag ink">${icon(name)}${text}</span>`
    : markup`<span class="tag">${icon(name)}${text}</span>`
}

const renamingOf = ({ slug, externalId, mayWrite }: TracePage): Html =>
  mayWrite
    ? markup`<a class="btn bare" href="${beneathTrace(slug, externalId, traceActions.rename)}" aria-label="Rename this session" title="Rename">${icon('edit')}</a>`
    : none

const deletionOf = ({ slug, externalId, mayWrite }: TracePage): Html =>
  mayWrite
    ? markup`<a class="btn bare risk" href="${beneathTrace(slug, externalId, traceActions.delete)}" aria-label="Delete this session">${icon('delete')}</a>`
    : none

/** For members: others may not see the history that evidence is made of. */
const evidenceOf = ({ slug, externalId, maySeeHistory }: TracePage): Html =>
  maySeeHistory
    ? markup`<a href="${evidencePath(slug, externalId)}">${icon('done')}Evidence, for others to check</a>`
    : none

const actsOf = (page: TracePage): Html =>
  markup`${readersOf(page)}<a class="btn" href="${pathWith(page)}" data-copy="link">${icon('link')}Copy link</a><button class="btn" type="button" popovertarget="export">${icon('export')}Export</button><div class="menu" id="export" popover aria-label="Export"><h2>Export</h2>${formats.map(
    ([format, name]) => markup`<a href="${exportPath(page, format)}" download="">${icon('file')}${name}</a>`,
  )}${evidenceOf(page)}</div>${continueMenu(page)}${renamingOf(page)}${deletionOf(page)}`

const viewNames = { full: 'Full', talk: 'Talk', tools: 'Tools' } as const

/** Links to the views of a session. The link to its changes is left out if there are none. */
export const viewLinks = (
  { slug, externalId }: Pick<TracePage, 'slug' | 'externalId'>,
  here: 'conversation' | 'changes',
  changed: number,
): Html => {
  const current = (one: typeof here) => (one === here ? markup` aria-current="page"` : none)
  const number = changed > 0 ? markup` <span class="num">${changed.toLocaleString('en')}</span>` : none
  const conversation = markup`<a href="${tracePath(slug, externalId)}"${current('conversation')}>Conversation</a>`
  if (changed === 0 && here !== 'changes') return conversation
  return markup`${conversation}<a href="${beneathTrace(slug, externalId, 'changes')}"${current('changes')}>Changes${number}</a>`
}

const tabsOf = (page: TracePage): Html => {
  const { view, part } = page
  const from = part && part.from > 0 ? `from=${part.from}` : ''
  const seg = (['full', 'talk', 'tools'] as const).map((one) => {
    const href = pathWith(page, from, viewQuery(one))
    return one === view
      ? markup`<a href="${href}" aria-current="true">${viewNames[one]}</a>`
      : markup`<a href="${href}">${viewNames[one]}</a>`
  })
  return markup`<nav class="tabs" aria-label="Views">${viewLinks(page, 'conversation', page.changed)}<span class="seg push">${seg}</span></nav>
`
}

export const crumbsOf = ({ slug, project }: Pick<TracePage, 'slug' | 'project'>): Html =>
  markup`<nav class="crumbs" aria-label="Where"><a href="${namespacePath(slug)}"><bdi>@${slug}</bdi></a>${
    project === undefined ? none : markup`<span>/</span><bdi>${project}</bdi>`
  }</nav>`

/** A link to the message that the page was opened for, because a browser without scripts does not scroll there by itself. */
const linkedOf = ({ linked }: TracePage): Html => {
  if (linked === undefined) return none
  if (linked !== 'lost')
    return markup`<p class="turn" id="linked"><a href="#m-${linked}">To the message that this link leads to</a></p>\n`
  return markup`<p class="note warn" role="status">${icon('warning')}<span>The message that this link leads to is not in the session any more.</span></p>\n`
}

/** What the page says once after the session was made public. */
const publishedOf = ({ isPublished, preview, visibility, mayWrite }: TracePage): Html =>
  isPublished && preview && visibility === 'public' && mayWrite
    ? markup`<div class="note" id="published" role="status">${icon('public')}<div><b>Everybody can read this session now</b>, at <a href="${preview.url}">${preview.url}</a>. What is added to it later becomes public too.
<div class="row"><a class="btn" href="${preview.url}" data-copy="link">${icon('link')}Copy link</a></div></div></div>\n`
    : none

const originOf = ({ origin }: TracePage): Html | undefined =>
  origin &&
  markup`<span>${icon(origin.isContinued ? 'branch' : 'sub-agent')}${origin.isContinued ? 'continues' : markup`by <bdi>${origin.agent ?? 'an agent'}</bdi>, in`} <a href="${origin.path}"><bdi>${origin.title}</bdi></a></span>`

/** A link to the commits with lines of the session. */
const commitsOf = ({ commits, slug, externalId }: TracePage): Html | undefined =>
  commits === 0
    ? undefined
    : markup`<span><a href="${commitsPath(slug, { trace: externalId })}">in ${commits.toLocaleString('en')} ${commits === 1 ? 'commit' : 'commits'}</a></span>`

/** Where the session comes from, and where it went. */
const relatedOf = (page: TracePage): Html | undefined => {
  const [origin, commits] = [originOf(page), commitsOf(page)]
  return origin && commits ? markup`${origin}${commits}` : (origin ?? commits)
}

/** The beginning of the page, up to the first message. */
export const startOfTrace = (page: TracePage): Html => {
  const { slug, externalId, head, revision, count, viewer, mayWrite } = page
  const rels = pageLinksOf(page).map(({ rel, href }) => markup`<link rel="${rel}" href="${href}">\n`)
  const more = markup`${previewOf(page)}${rels}`
  const start = startOfPage({
    title: documentTitle(head.title),
    name: 'trace',
    referrerPolicy: 'no-referrer',
    viewer,
    head: more,
    hasOutline: true,
  })
  const howTo = mayWrite
    ? markup`\n<p>Upload what your agent has recorded:</p>\n${clientHtml(page.service, 'sync')}`
    : none
  const empty =
    count > 0
      ? none
      : markup`<div class="blank left"><p class="soft">This session has no messages yet.</p>${howTo}</div>\n`
  return markup`${start}<div class="trace" data-trace="${tracePath(slug, externalId)}" data-revision="${revision.toString()}" data-count="${count}">
<main id="main">${headHtml(head, { crumbs: crumbsOf(page), acts: actsOf(page), tabs: tabsOf(page), origin: relatedOf(page) })}${publishedOf(page)}${linkedOf(page)}${pageNav(page, 'Pages')}${empty}<div class="msgs" id="messages">
`
}

const dock = (page: TracePage): Html =>
  markup`<div class="dock"><button class="btn bare" type="button" popovertarget="outline">${icon('outline')}<b>Outline</b></button><a class="btn bare" href="${pathWith(page)}" data-copy="link" aria-label="Copy link">${icon('link')}</a></div>`

/** The part of the page after the last message, up to the outline. */
export const endOfMessages = (page: TracePage): Html => {
  const { isLive, count, head } = page
  const { took } = head.lead
  const length = took === undefined ? '' : `, ${took.startsWith('over ') ? took : `in ${took}`}`
  const state = isLive
    ? markup`<span class="live">Still running</span>`
    : markup`<span>${counted(count, 'message')}${length}</span>`
  const isEmpty = count === 0 && !isLive
  const tail = isEmpty ? none : markup`<p class="tail">${state}<a href="#main">To the top</a></p>`
  return markup`</div>${pageNav(page, 'More pages')}${tail}${dock(page)}</main>
`
}

/** An empty row that tells a page to remove the row of this message. */
export const goneRow = (id: string, place: number): Html =>
  markup`<article class="msg gone" id="m-${place}" data-id="${id}" hidden></article>\n`

export const endOfTrace = (): Html => markup`</div>${endOfPage()}`

/** One message with nothing folded. */
export const startOfMessage = (page: Pick<TracePage, 'slug' | 'externalId' | 'head' | 'viewer'>, id: string): Html => {
  const { slug, externalId, head, viewer } = page
  const start = startOfPage({
    title: documentTitle(head.title),
    name: 'message',
    referrerPolicy: 'no-referrer',
    viewer,
  })
  return markup`${start}<div class="trace alone"><main id="main"><header class="head"><nav class="crumbs" aria-label="Where"><a href="${namespacePath(slug)}"><bdi>@${slug}</bdi></a><span>/</span><a href="${tracePath(slug, externalId, id)}"><bdi>${crumbTitle(head.title)}</bdi></a></nav>
<h1>One message in full</h1></header><div class="msgs">
`
}

export const messageWithoutText: Html = markup`<p class="soft">This message has no text.</p>\n`

export const endOfMessage = (): Html => markup`</div></main></div>${endOfPage()}`
