import { hash } from 'node:crypto'
import { truncateLine, truncateText } from '../../base/texts.ts'
import type { NamespaceInfo } from '../../contract/namespaces.ts'
import type { TraceDetail, Visibility } from '../../contract/trace.ts'
import { agentAndModel } from '../../transcript/agent-names.ts'
import { titleOf } from '../../transcript/head.ts'
import { icon } from '../../transcript/html/icons.ts'
import { type Html, exactly, markup, none } from '../../transcript/html/markup.ts'
import { visibleLine } from '../../transcript/visible.ts'
import { wrongHtml } from './form-parts.ts'
import { beneathTrace, namespacePath, tracePath } from './links.ts'
import type { Page } from './page.ts'

/** The names of the pages beneath that of a trace where it is shared, renamed and deleted; their forms are posted to the same addresses. */
export const traceActions = { visibility: 'visibility', rename: 'rename', delete: 'delete' } as const

/** A title on one line, as it is typed and stored. */
export const titleLine = (title: string): string => title.replace(/\s+/g, ' ').trim()

export const titleOfTrace = (trace: TraceDetail): string => titleOf(new Map(Object.entries(trace)))

/** The most characters of a title above a page about something else, and of one that has to be typed. */
const MOST_CRUMB = 80

export const crumbTitle = (title: string): string => truncateLine(title, MOST_CRUMB)

/** A trace as pages about it name it. */
export type NamedTrace = { readonly slug: string; readonly externalId: string; readonly title: string }

/** The link back to a trace. */
export const traceCrumbs = ({ slug, externalId, title }: NamedTrace): Html =>
  markup`<nav class="crumbs" aria-label="Where this is"><a href="${namespacePath(slug)}"><bdi>@${slug}</bdi></a><span>/</span><a href="${tracePath(slug, externalId)}" dir="auto">${crumbTitle(title)}</a></nav>\n`

const crumbs = ({ namespace: { slug }, externalId }: TraceDetail, title: string): Html =>
  traceCrumbs({ slug, externalId, title })

/** Who can read a trace: by its visibility, or the members of another namespace, `@` and its slug. */
export type Readers = Visibility | `@${string}`

const choice = (value: Readers, label: Html | string, hint: Html, present: Visibility): Html => {
  const text = markup`<span><b>${label}</b><span class="soft">${hint}</span></span></label>\n`
  return value === present
    ? markup`<label class="pick"><input type="radio" name="visibility" value="${value}" checked>${text}`
    : markup`<label class="pick"><input type="radio" name="visibility" value="${value}">${text}`
}

const MOST_SUMMARY = 240

const shortened = (text: string | undefined): string | undefined => text && truncateText(text, MOST_SUMMARY)

/** The facts of a trace that everybody would see if it were public, besides its messages. */
const seen = (
  trace: TraceDetail,
  author: string | undefined,
): readonly { readonly name: string; readonly value: string | undefined }[] => [
  { name: 'Title', value: titleOfTrace(trace) },
  { name: 'Author', value: author },
  { name: 'Agent', value: agentAndModel(trace) },
  { name: 'Messages', value: (trace.messageCount ?? 0).toLocaleString('en') },
  { name: 'Project', value: trace.projectName },
  { name: 'Folder', value: trace.projectPath },
  { name: 'Repository', value: trace.gitRemoteUrl },
  { name: 'Branch', value: trace.gitBranch },
  { name: 'Commit', value: trace.gitRef },
  { name: 'Session', value: trace.externalId },
  { name: 'Summary', value: shortened(trace.ai_summary) },
]

type Team = Pick<NamespaceInfo, 'slug' | 'displayName'>

const teamChoice = ({ slug, displayName }: Team, present: Visibility): Html =>
  choice(
    `@${slug}`,
    markup`Members of @${slug}`,
    markup`<bdi>${visibleLine(displayName)}</bdi>. The session moves there, with its sub-agents: this address leads on to it, its history begins anew.`,
    present,
  )

/**
 * `/@{slug}/{externalId}/-/visibility`: says what would be seen before it makes anything public. `teams` are the other namespaces of the viewer.
 */
export const visibilityPage = (trace: TraceDetail, author: string | undefined, teams: readonly Team[]): Page => {
  const { namespace, visibility } = trace
  const title = titleOfTrace(trace)
  const hidden = visibility === 'public' ? 'private' : visibility
  return {
    title: 'Who can read this session',
    name: 'trace-visibility',
    // The route of the form checks the origin of the page.
    referrer: 'same-origin',
    heading: markup`${crumbs(trace, title)}<h1>Who can read this session?</h1>\n`,
    content: markup`<form class="form" method="post" action="${beneathTrace(namespace.slug, trace.externalId, traceActions.visibility)}"><fieldset><legend class="vh">Who can read this session</legend>
${choice(hidden, `Members of @${namespace.slug}`, markup`Nobody else learns that it exists.`, visibility)}${teams.map((team) => teamChoice(team, visibility))}${choice('public', 'Everybody', markup`Without an account. It is listed on the first page; search engines are asked to leave it out.`, visibility)}</fieldset>
<section class="seen"><h2 class="day">What everybody would see</h2>
<dl class="facts">${seen(trace, author).flatMap(({ name, value }) => (value === undefined || value === '' ? [] : [markup`<dt>${name}</dt><dd dir="auto">${visibleLine(value)}</dd>`]))}</dl>
<p>And every message: prompts, answers, thinking, the calls of tools with their arguments and all that they returned, such as the content of
files. <code>tracebook sync</code> leaves out what looks like a secret; look through the session once before you make it public. What is added
to it later becomes public too, without another question.</p></section>
<div class="row"><button class="btn main">Save</button><a class="btn" href="${tracePath(namespace.slug, trace.externalId)}">Cancel</a></div></form>
`,
  }
}

/** Names the title of a trace, whatever it is made of: a form tells by it which title its page has shown. */
export const markOfTitle = ({ title }: Pick<TraceDetail, 'title'>): string =>
  hash('sha256', JSON.stringify(title ?? null), 'base64url').slice(0, 22)

/**
 * A title that was sent and not taken: because of what is `wrong` with it; `was` marks the title that the page of the form has shown. Or because the
 * trace was renamed meanwhile.
 */
export type TitleDraft = { readonly title: string } & (
  { readonly wrong: string; readonly was: string } | { readonly isLate: true }
)

/** `/@{slug}/{externalId}/-/rename`: another title for a trace. */
export const renamePage = (trace: TraceDetail, draft?: TitleDraft): Page => {
  const { namespace, externalId } = trace
  const title = titleOfTrace(trace)
  const { wrong, was = markOfTitle(trace) } = draft && 'wrong' in draft ? draft : {}
  const late =
    draft && 'isLate' in draft
      ? markup`<p class="note warn" role="alert">${icon('warning')}<span>The session was renamed meanwhile: it is called <b dir="auto">${crumbTitle(title)}</b> now. <b>Save</b> gives it your title instead.</span></p>\n`
      : none
  return {
    title: 'Rename this session',
    name: 'trace-rename',
    referrer: 'same-origin',
    heading: markup`${crumbs(trace, title)}<h1>Rename this session</h1>\n`,
    content: markup`${late}<form class="form" method="post" action="${beneathTrace(namespace.slug, externalId, traceActions.rename)}"><input type="hidden" name="was" value="${was}">
<label>Title <span class="hint">Lists, search and links show it. What is uploaded later does not change it.</span>
<span class="field"><textarea name="title" rows="3" dir="auto" required>
${exactly(draft?.title ?? titleLine(trace.title ?? trace.ai_title ?? ''))}</textarea></span>${wrongHtml(wrong)}</label>
<div class="row"><button class="btn main">Save</button><a class="btn" href="${tracePath(namespace.slug, externalId)}">Cancel</a></div></form>
`,
  }
}

/** What has to be typed to delete a trace: its title, or the beginning of a long one. */
export const titleToType = (trace: TraceDetail): string => {
  const title = titleOfTrace(trace)
  const shown = crumbTitle(title)
  return shown === title ? title : shown.slice(0, -1)
}

/** `/@{slug}/{externalId}/-/delete`: a trace is deleted by typing its title. `typed` is another text that was typed instead. */
export const deletePage = (trace: TraceDetail, typed?: string): Page => {
  const { namespace, externalId, messageCount = 0 } = trace
  const title = titleOfTrace(trace)
  const toType = titleToType(trace)
  const messages = `${messageCount.toLocaleString('en')} ${messageCount === 1 ? 'message' : 'messages'}`
  return {
    title: 'Delete this session',
    name: 'trace-delete',
    referrer: 'same-origin',
    heading: markup`${crumbs(trace, title)}<h1>Delete this session for everybody?</h1>\n`,
    content: markup`<p>Its ${messages} and its history are erased, also from the log. Links to it will find nothing. This cannot be undone.${
      messageCount === 0 ? none : markup` <code>tracebook export</code> keeps a copy.`
    }</p>
<form class="form" method="post" action="${beneathTrace(namespace.slug, externalId, traceActions.delete)}"><label><span>Type ${toType === title ? 'its title' : 'the beginning of its title'} to go on: <code dir="auto">${toType}</code></span>
<span class="field"><input name="title" value="${exactly(typed ?? '')}" autocomplete="off" required></span>${
      typed === undefined
        ? none
        : markup`<span class="wrong" role="alert">${icon('warning')}This is not the title. Nothing was deleted.</span>`
    }</label>
<div class="row"><a class="btn" href="${tracePath(namespace.slug, externalId)}">Keep it</a><button class="btn risk">${icon('delete')}Delete</button></div></form>
`,
  }
}
