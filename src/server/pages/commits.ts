import { dollarsText } from '../../base/usage-text.ts'
import type { AttributedLines, RecordedCommit } from '../../contract/attribution.ts'
import type { FeedTrace } from '../../contract/feed.ts'
import type { NamespaceInfo } from '../../contract/namespaces.ts'
import { type Html, markup, none } from '../../transcript/html/markup.ts'
import { visibleLine } from '../../transcript/visible.ts'
import { dayOf } from './days.ts'
import { commitsPath, tracePath } from './links.ts'
import { namespaceHeading } from './namespace-tabs.ts'
import type { Page } from './page.ts'
import { personBadge } from './person.ts'

type CommitsView = {
  readonly namespace: NamespaceInfo
  readonly commits: readonly RecordedCommit[]
  readonly nextCursor: string | undefined
  /** The sessions of the commits, by id. */
  readonly sessions: ReadonlyMap<string, FeedTrace>
  /** The externalId of the only session whose commits are shown. */
  readonly trace: string | undefined
  readonly now: number
}

const SHORT_SHA = 12

const lineCount = (count: number): string => `${count.toLocaleString('en')} ${count === 1 ? 'line' : 'lines'}`

/** The lines of a commit by what is known of them, without those that say too little to be compared. */
const linesText = ({ total, weak, replaced, run, moved, unknown }: AttributedLines): string => {
  const kinds = [
    [replaced, 'in place of removed ones'],
    [run, 'in a row'],
    [moved, 'like lines of another file'],
    [unknown, 'unknown'],
  ] as const
  const parts = kinds.flatMap(([count, what]) => (count > 0 ? [`${count.toLocaleString('en')} ${what}`] : []))
  return [`${lineCount(replaced + run)} of ${(total - weak).toLocaleString('en')} by sessions`, ...parts].join(' · ')
}

type CommitTrace = RecordedCommit['traces'][number]

/** A session with its lines, and what all of it has cost. */
const sessionHtml = ({ namespace, sessions }: CommitsView, { trace, lines }: CommitTrace): Html => {
  const session = sessions.get(trace.id)
  const title = session?.title ?? session?.ai_title ?? trace.externalId
  const cost = session?.cost && ` · the session cost ${dollarsText(session.cost.usd)}`
  return markup`<li><a href="${tracePath(namespace.slug, trace.externalId)}" dir="auto">${visibleLine(title)}</a> <span class="faint">${lineCount(lines.replaced + lines.run)}${cost ?? ''}</span></li>`
}

const recorderHtml = ({ recordedBy: { userId: id, displayName } }: RecordedCommit): Html =>
  displayName === undefined ? none : markup`${personBadge({ id, displayName })} `

const item = (view: CommitsView, commit: RecordedCommit): Html => {
  const iso = new Date(commit.at).toISOString()
  return markup`<li><div class="at"><time datetime="${iso}" data-shows="time">${iso.slice(11, 16)}</time></div>
<div class="in">${recorderHtml(commit)}<code>${commit.sha.slice(0, SHORT_SHA)}</code> <bdi>${visibleLine(commit.repository)}</bdi>
<div class="meta">${linesText(commit.lines)}</div><ul>${commit.traces.map((one) => sessionHtml(view, one))}</ul></div><div class="end"></div></li>
`
}

const byDays = (view: CommitsView): Html => {
  const days = Map.groupBy(view.commits, ({ at }) => dayOf(at, view.now).key)
  return markup`${[...days.values()].map(
    (
      some,
    ) => markup`<section class="of-day"><h2 class="day">${dayOf(some[0]!.at, view.now).heading}</h2><ol class="list traces">
${some.map((commit) => item(view, commit))}</ol></section>
`,
  )}`
}

const NOTHING = markup`<p>No commits are recorded. <code>tracebook commits --record</code> asks which sessions wrote their lines, and records it.</p>\n`

/** `/@{slug}/-/commits`: the recorded commits of a namespace, for its members. */
export const commitsPage = (view: CommitsView): Page => {
  const { namespace, commits, nextCursor, trace } = view
  const older =
    nextCursor === undefined
      ? none
      : markup`<p class="more-link"><a class="btn" rel="next" href="${commitsPath(namespace.slug, { trace, cursor: nextCursor })}">Older commits</a></p>\n`
  const ofTrace =
    trace === undefined
      ? none
      : markup`<p>Of the session <a href="${tracePath(namespace.slug, trace)}"><bdi>${visibleLine(trace)}</bdi></a> only. <a href="${commitsPath(namespace.slug)}">All commits</a></p>\n`
  return {
    title: `Commits of @${namespace.slug}`,
    name: 'commits',
    heading: namespaceHeading('Commits', namespace, 'commits'),
    layout: 'wide',
    content: markup`${ofTrace}${commits.length === 0 ? NOTHING : byDays(view)}${older}`,
  }
}
