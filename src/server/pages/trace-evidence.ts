import { shellWord } from '../../base/escape.ts'
import { icon } from '../../transcript/html/icons.ts'
import { type Html, markup, none } from '../../transcript/html/markup.ts'
import { clientHtml, textHtml } from './commands.ts'
import { timeHtml } from './days.ts'
import { evidenceFilePath, evidencePath, traceTimelinePath } from './links.ts'
import type { Page } from './page.ts'
import { type NamedTrace, traceCrumbs } from './trace-actions.ts'
import { type ShownCoverage, uncoveredNote } from './trace-timeline.ts'

/** Why the file does not begin with the creation of the session; `at` in milliseconds since 1970, `movedFrom` the namespace that it was in. */
export type BegunAnew = { readonly at: number; readonly movedFrom: string | undefined }

type EvidenceView = {
  readonly trace: NamedTrace
  readonly coverage: ShownCoverage
  readonly begunAnew: BegunAnew | undefined
  /** The name that the file is saved under. */
  readonly fileName: string
  /** The address of the service as commands may name it. */
  readonly service: string | undefined
}

const whyAnew = ({ movedFrom }: BegunAnew): string =>
  movedFrom === undefined ? 'The past of this session was erased' : `This session was moved here from @${movedFrom}`

const begunAnewNote = (anew: BegunAnew | undefined): Html =>
  anew === undefined
    ? none
    : markup`<p class="note">${icon('erased')}<span>${whyAnew(anew)} at ${timeHtml(anew.at)}. The file begins with that, and has each message as it was then: it proves nothing about earlier times.</span></p>\n`

const fileHtml = ({ trace: { slug, externalId }, coverage }: EvidenceView): Html =>
  coverage.is === 'covered'
    ? markup`<p><a class="btn main" href="${evidenceFilePath(slug, externalId)}" download="">${icon('export')}Download the evidence</a></p>\n`
    : none

const meaning = markup`<section class="prose"><h2 class="day">What it proves</h2>
<ul><li>These events are in the log that the key below signs, unchanged since the checkpoint, in this order.</li>
<li>When the service says that it took each of them, from which user, by the id, and in which request.</li>
<li>The text of these messages was recorded before the checkpoint. If somebody has kept the checkpoint, a witness has cosigned it, or it was published: that this
was so at that time, and that the log still is that log.</li></ul></section>
<section class="prose"><h2 class="day">What it does not prove</h2>
<ul><li>That the agent made the calls, and not whoever held its token.</li>
<li>That nobody else wrote the same text as well, or first.</li>
<li>That a line of code which no session explains was typed by a person.</li>
<li>That nothing is missing: sessions that were never uploaded, events that were left out of a file.</li>
<li>That clocks were right. <code>at</code> of an event is by the clock of the service, <code>timestamp</code> of a message by that of the client.</li>
<li>Who a user id is, and what the file says of the namespace, the agent and its own making: these are words of whoever made it.</li></ul></section>
`

const contentHtml = (timeline: string): Html => markup`<section class="prose"><h2 class="day">What is in it</h2>
<p>Every message of the session as it lies in the log, in all its versions, and for each the proof that leads to one signed checkpoint: whoever has the file can read
all of the session. It names no commits: <code>tracebook audit evidence</code> makes a file that says, too, which lines of a commit are from which session.
The <a href="${timeline}">timeline of the session</a> has the proof of single events.</p>
<p><b>A file is not recalled.</b> If the session is deleted, or its past erased, the service proves nothing of what is gone any more. A file that was made before can still be
checked, and read.</p></section>
`

/** How somebody else checks the file. */
const checkHtml = ({ coverage, fileName, service }: EvidenceView): Html => {
  if (coverage.is !== 'covered') return none
  const { key } = coverage.checkpoint
  return markup`<section><h2 class="day">To check it</h2>
<ol class="steps"><li><span>The key of the log comes by another way than the file, for example by a call: a key that only the file names does not prove that the log is the one of this service.</span>${textHtml(key, 'Key')}</li>
<li><span>This says what holds, or which step fails. It asks no service.</span>${clientHtml(service, `audit verify --offline ${shellWord(fileName)} --key ${shellWord(key)}`)}</li>
<li><span>Those who do not want to rely on this program have two others, short enough to be read: <code>verify-evidence.go</code> and <code>verify-evidence.py</code>, in <code>src/commands/audit</code> of the source of Tracebook.</span></li></ol></section>
`
}

/** `/@{slug}/{externalId}/-/evidence`: what evidence of a session proves and what not, the file, and how to check it. */
export const evidencePage = (view: EvidenceView): Page => {
  const { trace, coverage, begunAnew } = view
  const { slug, externalId } = trace
  return {
    title: 'Evidence of this session',
    name: 'trace-evidence',
    heading: markup`${traceCrumbs(trace)}<h1>Evidence of this session</h1>\n`,
    content: markup`<section class="prose"><p>One file, by which others can check what was recorded of this session, and since when: without this service, and without trusting those who run it.</p>
${uncoveredNote(coverage, evidencePath(slug, externalId))}${begunAnewNote(begunAnew)}${fileHtml(view)}</section>
${contentHtml(traceTimelinePath(slug, externalId))}${meaning}${checkHtml(view)}`,
  }
}
