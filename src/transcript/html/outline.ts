import { countText, sessionLengthText } from '../../base/for-people.ts'
import { tokenCounts, tokensText } from '../../base/usage-text.ts'
import type { Message } from '../message.ts'
import { isoText } from '../times.ts'
import { isPrompt } from '../turns.ts'
import { visibleLine } from '../visible.ts'
import { linesHtml } from './diff.ts'
import { goOnHtml } from './go-on.ts'
import { icon } from './icons.ts'
import type { GoOn } from './links.ts'
import { type Html, markup, none } from './markup.ts'
import { pathHtml } from './path.ts'
import { counted } from './output.ts'
import type { CallChanges } from '../calls.ts'
import type { RowReport } from './rows.ts'
import { strip } from './strip.ts'
import type { CallCounts } from './ticks.ts'
import type { Shown } from './tool.ts'

const MOST_TEXT = 200
/** The most failures and sub-agents that are listed below a prompt, and the most files at the end. */
const MOST_LISTED = 12
const MOST_FILES = 200

/** A failure or a sub-agent below a prompt. `elsewhere` is where it is, if the page does not show it. */
type Sub = {
  readonly id: string
  readonly ordinal: number
  readonly elsewhere: string | undefined
  readonly isBad: boolean
  readonly text: string
}

/** A prompt, and what was done for it; 0 calls where that is not known. */
export type OutlinePrompt = {
  readonly id: string
  readonly ordinal: number
  readonly number: number
  readonly text: string
  readonly segment: CallCounts
  readonly added: number
  readonly removed: number
  /** How long it took, in milliseconds. */
  readonly took: number | undefined
  /** How many tokens it took; undefined if that is not known. */
  readonly tokens: number | undefined
  readonly subs: readonly Sub[]
}

type OutlineFile = { readonly path: string; readonly added: number; readonly removed: number }

type OutlineData = {
  readonly prompts: readonly OutlinePrompt[]
  readonly files: readonly OutlineFile[]
}

type Growing = {
  -readonly [Name in keyof OutlinePrompt]: OutlinePrompt[Name]
} & { subs: Sub[]; began: number | undefined }

/**
 * Adds up the tokens of messages by the number of the prompt before them. Of an answer that several messages have, the first counts.
 * @param before the number of prompts before the first message
 */
const newTokens = (before: number) => {
  const answers = new Set<string>()
  const byPrompt = new Map<number, number>()
  let number = before

  const add = (message: Message) => {
    if (isPrompt(message)) number += 1
    const { usage } = message
    const { all } = tokenCounts(usage)
    const id = usage?.responseId
    if (all === undefined || (id !== undefined && answers.has(id))) return
    if (id !== undefined) answers.add(id)
    byPrompt.set(number, (byPrompt.get(number) ?? 0) + all)
  }

  return { add, of: (prompt: number): number | undefined => byPrompt.get(prompt) }
}

/** The beginning of a prompt on one line. */
export const promptText = (text: string): string => visibleLine(text.slice(0, 4 * MOST_TEXT)).slice(0, MOST_TEXT)

const textOf = ({ turn }: RowReport): string => {
  for (const one of turn.shown)
    if ('type' in one && one.type === 'text' && one.text.trim() !== '') return promptText(one.text)
  return ''
}

/**
 * Collects what the outline shows, while the rows are made.
 * @param before the number of prompts before the first message
 */
export const newOutline = (before = 0) => {
  const tokens = newTokens(before)
  const prompts: Growing[] = []
  const files = new Map<string, { added: number; removed: number }>()

  const begin = (row: RowReport) => {
    const { id, ordinal, prompts: number, timestamp } = row.turn
    const began = isoText(timestamp) === undefined ? undefined : timestamp
    prompts.push({
      id,
      ordinal,
      number,
      text: textOf(row),
      segment: [0, 0, 0],
      added: 0,
      removed: 0,
      took: undefined,
      tokens: undefined,
      subs: [],
      began,
    })
  }

  const addFiles = (changes: CallChanges) => {
    for (const [path, lines] of changes.files) {
      if (!files.has(path) && files.size >= MOST_FILES) continue
      const { added, removed } = files.get(path) ?? { added: 0, removed: 0 }
      files.set(path, { added: added + lines.added, removed: removed + lines.removed })
    }
  }

  const count = (prompt: Growing | undefined, row: RowReport, { look, outcome, view, changes }: Shown) => {
    const { id, ordinal } = row.turn
    const made = outcome.failed ? undefined : changes
    if (made) addFiles(made)
    if (!prompt) return
    const [calls, edits, failed] = prompt.segment
    prompt.segment = [calls + 1, edits + (made ? 1 : 0), failed + (outcome.failed ? 1 : 0)]
    prompt.added += made?.added ?? 0
    prompt.removed += made?.removed ?? 0
    const isAgent = view.kind === 'task' || view.kind === 'agent'
    if ((!outcome.failed && !isAgent) || prompt.subs.length >= MOST_LISTED) return
    const text = outcome.failed ? `${outcome.words} · ${look.label} ${view.subject}` : view.subject || look.label
    const { elsewhere } = row
    prompt.subs.push({ id, ordinal, elsewhere, isBad: outcome.failed, text: text.slice(0, MOST_TEXT).trim() })
  }

  function* note(row: RowReport): Generator<Html, void> {
    if (row.turn.kind === 'prompt') begin(row)
    const prompt = prompts.at(-1)
    const { timestamp } = row.turn
    if (prompt?.began !== undefined && isoText(timestamp) !== undefined)
      prompt.took = Math.max(prompt.took ?? 0, timestamp! - prompt.began)
    for (const call of row.calls.values()) {
      count(prompt, row, call)
      yield none
    }
  }

  const data = (): OutlineData => ({
    prompts: prompts.map((prompt) => ({ ...prompt, tokens: tokens.of(prompt.number) })),
    files: [...files].map(([path, lines]) => ({ path, ...lines })),
  })
  return {
    note,
    /** Takes each message in order, also those that are shown elsewhere. */
    addUsage: tokens.add,
    data,
  }
}

type OutlineLinks = {
  /** Where a message is: in this page, or in another one. */
  place(id: string, ordinal: number): string
  goOn(id: string): GoOn | undefined
}

const SHORTEST_MS = 1_000

const didOf = ({ segment: [calls, , failed], added, removed, took, tokens }: OutlinePrompt): Html => {
  const facts = [
    ...(calls > 0 ? [markup`<span>${counted(calls, 'tool')}</span>`] : []),
    ...(failed > 0 ? [markup`<span class="bad">${countText(failed)} failed</span>`] : []),
    ...(added + removed > 0 ? [markup`<span>${linesHtml({ added, removed })}</span>`] : []),
    ...(took !== undefined && took >= SHORTEST_MS ? [markup`<span>${sessionLengthText(took)}</span>`] : []),
    ...(tokens !== undefined ? [markup`<span>${tokensText(tokens)} tokens</span>`] : []),
  ]
  return facts.length === 0 ? none : markup`<span class="did">${facts}</span>`
}

const subOf = ({ id, ordinal, elsewhere, isBad, text }: Sub, { place }: OutlineLinks): Html => {
  const shown = markup`${icon(isBad ? 'failed' : 'agent')}<span>${text}</span>`
  const mark = isBad ? markup` class="bad"` : none
  if (elsewhere !== undefined) return markup`<a href="${elsewhere}"${mark}>${shown}</a>`
  return markup`<a href="${place(id, ordinal)}" data-ordinal="${ordinal}"${mark}>${shown}</a>`
}

const promptOf = (prompt: OutlinePrompt, links: OutlineLinks): Html => {
  const { id, ordinal, number, text, segment, subs } = prompt
  const ticks = segment[0] > 0 ? strip([segment]) : none
  const below = subs.length === 0 ? none : markup`<div class="sub">${subs.map((sub) => subOf(sub, links))}</div>`
  return markup`<li><a href="${links.place(id, ordinal)}" data-ordinal="${ordinal}"><span class="no">${number}</span><span class="q" dir="auto">${text || 'Prompt'}</span>${ticks}${didOf(prompt)}</a>${goOnHtml(links.goOn(id), false)}${below}</li>\n`
}

const fileName = (path: string) => path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1) || path

const fileOf = ({ path, added, removed }: OutlineFile): Html =>
  markup`<span><code>${pathHtml(fileName(path))}</code>${linesHtml({ added, removed })}</span>`

export const startOfOutline: Html = markup`<nav class="outline" id="outline" tabindex="-1" popover aria-label="Outline"><h2>Outline<button class="btn push" type="button" popovertarget="outline" popovertargetaction="hide">${icon('close')}Close</button></h2>
<ol>`

/** The prompts of an outline, each as a step. */
export function* outlinePrompts(prompts: Iterable<OutlinePrompt>, links: OutlineLinks): Generator<Html, void> {
  for (const prompt of prompts) yield promptOf(prompt, links)
}

/** The part below the prompts: files that were changed, and what else the page adds. */
export const endOfOutline = (files: readonly OutlineFile[], more: Html = none): Html => {
  const list =
    files.length === 0
      ? none
      : markup`<hr><h2>Files <span class="faint num">${files.length}</span></h2><div class="files">${files.map(fileOf)}</div>`
  return markup`</ol>${list}${more}</nav>\n`
}
