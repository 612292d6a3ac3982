import type { ChangedFile, Changes, MadeEdit } from '../../transcript/changes.ts'
import { linesOf } from '../../transcript/changed-lines.ts'
import { type DiffLine, diffLines, newWords, patchLines } from '../../transcript/diff.ts'
import type { Edit } from '../../transcript/edits.ts'
import { languageOf, newHighlight } from '../../transcript/highlight.ts'
import { diffTable, linesHtml } from '../../transcript/html/diff.ts'
import { titleHtml } from '../../transcript/html/head.ts'
import { icon } from '../../transcript/html/icons.ts'
import { inFolder } from '../../transcript/html/looks.ts'
import { type Html, markup, none } from '../../transcript/html/markup.ts'
import { counted } from '../../transcript/html/output.ts'
import { pathHtml } from '../../transcript/html/path.ts'
import type { ProseOptions } from '../../transcript/html/prose.ts'
import { isoText } from '../../transcript/times.ts'
import { visibleLine } from '../../transcript/visible.ts'
import { startOfPage } from './document.ts'
import { messagePath, tracePath } from './links.ts'
import { documentTitle } from './page.ts'
import { type TracePage, crumbsOf, viewLinks } from './trace.ts'

/** The page of what a session changed. */
export type ChangesPage = Pick<TracePage, 'slug' | 'externalId' | 'head' | 'project' | 'viewer'>

/** The most lines that are shown of an edit. */
const MOST_LINES = 400
/** The most files in the list beside the edits. */
const MOST_LISTED = 200

const fileName = (path: string) => path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1) || path

/** A path as it is shown: without the folder of the session. */
const shownPath = ({ path }: ChangedFile, { head }: ChangesPage): string =>
  path === undefined ? 'A file that is not named' : inFolder(head.folder)(visibleLine(path)) || 'A file without a name'

const all = (is: DiffLine['is'], text: string): DiffLine[] => linesOf(text).map((line) => ({ is, text: line }))

const linesIn = (edit: Edit): readonly DiffLine[] => {
  switch (edit.is) {
    case 'replacement':
      if (edit.before === edit.after) return []
      return diffLines(edit.before, edit.after) ?? [...all('removed', edit.before), ...all('added', edit.after)]
    case 'content':
      return all('added', edit.content)
    case 'patch':
      return patchLines(edit.patch, true) ?? all('same', edit.patch)
    case 'unknown':
      return []
  }
}

const said = (text: string): Html => markup`<p class="say">${text}</p>`

/** The lines that an edit changes. */
function* linesHtmlOf(one: MadeEdit, page: ChangesPage, how: ProseOptions): Generator<Html, void> {
  const { edit, messageId } = one
  if (!edit) return yield said('Too long to be shown here: it is in the message.')
  const lines = linesIn(edit)
  if (lines.length === 0)
    return yield said(edit.is === 'unknown' ? 'The call does not tell which lines.' : 'No lines are changed.')
  const whole = messagePath(page.slug, page.externalId, messageId)
  const options = {
    first: undefined,
    rest: { whole },
    language: edit.path === undefined ? '' : languageOf(edit.path),
    how,
  }
  yield* diffTable(lines.slice(0, MOST_LINES), options)
  const more = lines.length - MOST_LINES
  if (more <= 0) return
  yield markup`<div class="fold"><a href="${whole}">Show ${counted(more, 'more line')}</a></div>`
}

/** An edit: its time, its prompt and its lines; for a failed one also the reason. */
function* editOf(one: MadeEdit, place: string, page: ChangesPage, how: ProseOptions): Generator<Html, void> {
  const { messageId, timestamp, prompt, failure } = one
  const iso = isoText(timestamp)
  const time = iso === undefined ? none : markup`<time datetime="${iso}">${iso.slice(11, 16)}</time>`
  const link = prompt === 0 ? 'Before the first prompt' : `Prompt ${prompt.toLocaleString('en')}`
  yield markup`<p class="edit">${time}<span>${place}</span><a class="push" href="${tracePath(page.slug, page.externalId, messageId)}">${link}</a></p>`
  if (failure === undefined) return yield* linesHtmlOf(one, page, how)
  yield markup`<div class="note bad">${icon('failed')}<div><b>Failed.</b> <bdi>${failure}</bdi></div></div><details class="more"><summary>What it would have changed</summary>`
  yield* linesHtmlOf(one, page, how)
  yield markup`</details>`
}

/** A file with its edits. @param number the number of the file on the page, from 1 */
function* fileOf(file: ChangedFile, number: number, page: ChangesPage, how: ProseOptions): Generator<Html, void> {
  const { edits } = file
  yield markup`<details class="file" id="f${number}" open><summary><code dir="auto">${pathHtml(shownPath(file, page))}</code><span>${linesHtml(file)}</span><span class="soft">${counted(edits.length, 'edit')}</span></summary>`
  for (const [i, one] of edits.entries()) yield* editOf(one, `Edit ${i + 1} of ${edits.length}`, page, how)
  yield markup`</details>\n`
}

const metaOf = ({ changed, edits, failed, ...lines }: Changes): Html =>
  markup`<div class="meta"><span><b>${changed.toLocaleString('en')}</b> ${changed === 1 ? 'file' : 'files'}</span><span>${linesHtml(lines)}</span><span><b>${edits.toLocaleString('en')}</b> ${edits === 1 ? 'edit' : 'edits'}</span>${
    failed > 0 ? markup`<span class="bad">${failed.toLocaleString('en')} failed</span>` : none
  }</div>
`

const listOf = ({ files }: Changes, page: ChangesPage): Html => {
  const items = files.slice(0, MOST_LISTED).map((file, i) => {
    const path = shownPath(file, page)
    const name = fileName(path)
    const folder = path.slice(0, path.length - name.length).replace(/[/\\]$/, '')
    return markup`<a href="#f${i + 1}">${icon('diff')}<code dir="auto">${pathHtml(name)}<small>${pathHtml(folder)}</small></code>${linesHtml(file)}</a>`
  })
  const more = files.length - MOST_LISTED
  return markup`<nav class="outline" id="outline" tabindex="-1" popover aria-label="Files"><h2>Files <span class="faint num">${files.length.toLocaleString('en')}</span><button class="btn push" type="button" popovertarget="outline" popovertargetaction="hide">${icon('close')}Close</button></h2><div class="files">${items}</div>${
    more > 0 ? markup`<p class="soft">and ${counted(more, 'more file')}</p>` : none
  }<hr><p class="soft">In the order of first edit. What a shell command changed is not seen here.</p></nav>
`
}

const dock = ({ files }: Changes): Html =>
  markup`<div class="dock"><button class="btn bare" type="button" popovertarget="outline">${icon('outline')}<b>${counted(files.length, 'file')}</b></button></div>`

/** The beginning, up to the title. */
export const startOfChanges = (page: ChangesPage): Html => {
  const { head, viewer } = page
  const title = documentTitle(`Changes: ${head.title}`)
  const start = startOfPage({ title, name: 'changes', referrerPolicy: 'no-referrer', viewer })
  return markup`${start}<div class="trace">
<main id="main"><header class="head">${crumbsOf(page)}
${titleHtml(head.title)}
`
}

/** The part of the page after the title, up to its end, in steps: the files with their edits, and then the list of files. */
export function* restOfChanges(changes: Changes, page: ChangesPage): Generator<Html, void> {
  const { files, left } = changes
  const tabs = markup`<nav class="tabs" aria-label="Views">${viewLinks(page, 'changes', changes.changed)}</nav>`
  if (files.length === 0) {
    yield markup`${tabs}</header>
<div class="blank left"><p class="soft">This session changed no files that its tool calls show.</p></div>
</main></div>`
    return
  }
  yield markup`${metaOf(changes)}${tabs}</header>\n`
  const how = { highlight: newHighlight(), words: newWords(), hasLinks: false }
  for (const [i, file] of files.entries()) yield* fileOf(file, i + 1, page, how)
  if (left > 0)
    yield markup`<p class="soft">${counted(left, 'more edit')} of this session ${left === 1 ? 'is' : 'are'} not shown.</p>\n`
  yield markup`${dock(changes)}</main>\n${listOf(changes, page)}</div>`
}
