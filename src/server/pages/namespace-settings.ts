import { countText } from '../../base/for-people.ts'
import type { FeedTrace } from '../../contract/feed.ts'
import type { NamespaceInfo } from '../../contract/namespaces.ts'
import { listedTitleOf } from '../../transcript/head.ts'
import { icon } from '../../transcript/html/icons.ts'
import { type Html, exactly, markup, none } from '../../transcript/html/markup.ts'
import { visibleLine } from '../../transcript/visible.ts'
import { timeHtml } from './days.ts'
import { choice, savedNote, wrongHtml } from './form-parts.ts'
import { beneathNamespace, namespacePath, tracePath } from './links.ts'
import { namespacePicture } from './namespace.ts'
import { namespaceHeading } from './namespace-tabs.ts'
import type { Page } from './page.ts'

/** The names of the page, of the question before a shorter retention is saved, and of the addresses that the forms are posted to. */
export const settingsPages = {
  settings: 'settings',
  details: 'details',
  picture: 'picture',
  retention: 'retention',
} as const

/** The name and the description as they were sent, with what is wrong with each. */
export type DetailsDraft = {
  readonly displayName: string
  readonly description: string
  readonly wrong: { readonly displayName?: string | undefined; readonly description?: string | undefined }
}

/** The retention as it was sent, with what is wrong. */
export type RetentionDraft = { readonly days: string; readonly wrong: string }

/** What a retention of so many days deletes, and when. */
export type ShownOutlook = {
  readonly days: number
  /** How many sessions are due now; with `isMore` at least so many. */
  readonly due: number
  readonly isMore: boolean
  /** The session that goes first, and when it last changed; its page is not known if it is changed or deleted meanwhile. */
  readonly first: { readonly updatedAt: number; readonly trace: FeedTrace | undefined } | undefined
}

export type NamespaceSettingsView = {
  readonly namespace: NamespaceInfo
  /** What the present retention deletes; undefined if the namespace keeps its sessions for ever. */
  readonly outlook: ShownOutlook | undefined
  readonly saved: string | undefined
  readonly details?: DetailsDraft
  readonly wrongPicture?: string
  readonly retention?: RetentionDraft
  /** The largest picture, in bytes. */
  readonly mostBytes: number
  readonly now: number
}

const action = ({ slug }: NamespaceInfo, name: string): string => beneathNamespace(slug, name)

const detailsForm = ({ namespace, details }: NamespaceSettingsView): Html => {
  const { displayName, description = '' } = details ?? namespace
  const wrong = details?.wrong ?? {}
  return markup`<section><h2 class="day">Name and description</h2>
<form class="form" method="post" action="${action(namespace, settingsPages.details)}"><label>Name
<span class="field"><input name="displayName" value="${exactly(displayName)}" autocomplete="off" required></span>${wrongHtml(wrong.displayName)}</label>
<label>Description <span class="hint">What it is for. Everybody who opens the page of the namespace reads it.</span>
<span class="field"><textarea name="description" rows="3">
${exactly(description)}</textarea></span>${wrongHtml(wrong.description)}</label>
<div class="row"><button class="btn main">Save</button></div></form></section>
`
}

const pictureForm = ({ namespace, wrongPicture, mostBytes }: NamespaceSettingsView): Html =>
  markup`<section id="picture"><h2 class="day">Picture</h2>
<form class="form" method="post" enctype="multipart/form-data" action="${action(namespace, settingsPages.picture)}"><div class="row">${namespacePicture(namespace)}<label>A new picture <span class="hint">PNG, JPEG or WebP, at most ${mostBytes / 1024} KiB and 4,096 pixels a side.</span>
<input type="file" name="picture" accept="image/png,image/jpeg,image/webp" required data-most-bytes="${mostBytes}">${wrongHtml(wrongPicture)}</label></div>
<div class="row"><button class="btn main">Use this picture</button></div></form></section>
`

const DAY_MS = 86_400_000

const dayCount = (days: number): string => `${countText(days)} ${days === 1 ? 'day' : 'days'}`
const sessionCount = ({ due, isMore }: ShownOutlook): string =>
  `${isMore ? 'More than ' : ''}${countText(due)} ${due === 1 ? 'session' : 'sessions'}`

const traceLink = (trace: FeedTrace | undefined): Html =>
  trace
    ? markup`<a href="${tracePath(trace.namespace.slug, trace.externalId)}" dir="auto">${listedTitleOf(new Map(Object.entries(trace)))}</a>`
    : markup`a session`

/** The first session to go, and when it last changed. */
const firstHtml = ({ first }: ShownOutlook): Html =>
  first ? markup`${traceLink(first.trace)}, last changed on ${timeHtml(first.updatedAt)}` : none

/** What a retention deletes, and when: at once if sessions are due, else from a day on. */
const outlookHtml = (outlook: ShownOutlook, now: number, tense: 'is' | 'would be'): Html => {
  const { days, due, first } = outlook
  if (!first) return markup`<p>The namespace has no sessions.</p>\n`
  if (due > 0)
    return markup`<p><b>${sessionCount(outlook)}</b> ${due === 1 ? 'has' : 'have'} not changed for ${dayCount(days)}, and ${tense === 'is' ? 'will be deleted within minutes' : 'would be deleted within minutes'}. The oldest is ${firstHtml(outlook)}.</p>\n`
  const left = Math.ceil((first.updatedAt + days * DAY_MS - now) / DAY_MS)
  return markup`<p>Nothing is old enough now. In <b>${dayCount(left)}</b> the first session ${tense === 'is' ? 'is' : 'would be'} deleted, unless it changes: ${firstHtml(outlook)}.</p>\n`
}

const retentionForm = ({ namespace, outlook, retention, now }: NamespaceSettingsView): Html => {
  const { retentionDays } = namespace
  const days = retention?.days ?? String(retentionDays ?? '')
  const isKept = retention === undefined && retentionDays === undefined
  const present = outlook
    ? outlookHtml(outlook, now, 'is')
    : markup`<p>Sessions are kept until somebody deletes them.</p>\n`
  return markup`<section id="retention"><h2 class="day">Retention <small>how long sessions are kept</small></h2>
${present}<form class="form" method="post" action="${action(namespace, settingsPages.retention)}"><fieldset><legend class="vh">How long sessions are kept</legend>
${choice('keep', 'ever', 'For ever', 'Nothing is deleted for its age.', isKept)}${choice('keep', 'days', 'For some days after their last change', 'Then they are deleted and erased, with their history.', !isKept)}</fieldset>
<label>Days <span class="hint">Before fewer days than now are saved, you see what they would delete.</span>
<span class="field"><input name="days" type="number" min="1" max="36500" inputmode="numeric" value="${exactly(days)}"></span>${wrongHtml(retention?.wrong)}</label>
<div class="row"><button class="btn main">Save</button></div></form></section>
`
}

/** `/@{slug}/-/settings`: the name, the picture and the retention of a namespace, for its admins. */
export const namespaceSettingsPage = (view: NamespaceSettingsView): Page => {
  const { namespace, saved } = view
  return {
    title: `Settings of @${namespace.slug}`,
    name: 'namespace-settings',
    // The routes of the forms check the origin of the page.
    referrer: 'same-origin',
    heading: namespaceHeading('Settings', namespace, 'settings'),
    layout: 'wide',
    content: markup`${savedNote(saved)}${detailsForm(view)}${pictureForm(view)}${retentionForm(view)}`,
  }
}

type RetentionQuestion = {
  readonly namespace: NamespaceInfo
  readonly outlook: ShownOutlook
  readonly now: number
}

/** `/@{slug}/-/retention?days=…`: what a new number of days would delete, before it is saved. */
export const retentionPage = ({ namespace, outlook, now }: RetentionQuestion): Page => {
  const { slug, displayName } = namespace
  const { days, due } = outlook
  const title = `Keep sessions for ${dayCount(days)}?`
  const button =
    due > 0
      ? markup`<button class="btn risk">${icon('delete')}Save, and delete ${sessionCount(outlook).toLowerCase()}</button>`
      : markup`<button class="btn main">Save</button>`
  return {
    title,
    name: 'namespace-retention',
    referrer: 'same-origin',
    heading: markup`<nav class="crumbs" aria-label="Where this is"><a href="${namespacePath(slug)}" dir="auto">${visibleLine(displayName) || slug}</a><span>/</span><a href="${action(namespace, settingsPages.settings)}">Settings</a></nav>
<h1>${title}</h1>
`,
    content: markup`${outlookHtml(outlook, now, 'would be')}<form class="form" method="post" action="${action(namespace, settingsPages.retention)}"><input type="hidden" name="keep" value="days"><input type="hidden" name="days" value="${days}"><input type="hidden" name="confirmed" value="${days}">
<p class="soft">From then on every session goes ${dayCount(days)} after its last change, with its messages and its history, also from the log. This cannot be undone.</p>
<div class="row"><a class="btn" href="${action(namespace, settingsPages.settings)}#retention">Cancel</a>${button}</div></form>
`,
  }
}
