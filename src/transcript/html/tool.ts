import { type CallView, type CallChanges, type Detail, type Field, readCall, viewOf } from '../calls.ts'
import { languageOf } from '../highlight.ts'
import type { Result } from '../message.ts'
import { inSteps } from '../../base/json/steps.ts'
import type { Answered } from '../turns.ts'
import { visibleLine } from '../visible.ts'
import { diffTable } from './diff.ts'
import { icon } from './icons.ts'
import { type Showing, folds, openIf } from './links.ts'
import { type CallLook, lookOf } from './looks.ts'
import { type Html, markup, none } from './markup.ts'
import { type Rest, foldLink, foldOf, output, sliced } from './output.ts'
import { type ProseOptions, code, written } from './prose.ts'

export type Context = {
  readonly showing: Showing
  readonly how: ProseOptions
  /** The externalId of the message that the call is in. */
  readonly id: string
}

/** How a call ended, where that has to be said. */
type Outcome = { readonly failed: boolean; readonly tag: Html; readonly words: string }

const EXIT = /^(?:Exit code:? |Process exited with code )(-?\d{1,5})\b/m
const DECLINED = /^The user doesn't want to proceed with this tool use/

const outcomeOf = (result: Answered['result']): Outcome => {
  if (result === 'later') return { failed: false, tag: markup`<span class="tag">answered below</span>`, words: '' }
  if (result === 'none')
    return { failed: false, tag: markup`<span class="tag">no answer recorded</span>`, words: 'no answer' }
  const head = result.output.slice(0, 200)
  const exit = EXIT.exec(head)?.[1]
  const hasExit = exit !== undefined && exit !== '0'
  if (!result.failed)
    return hasExit
      ? { failed: false, tag: markup`<span class="tag bad">exit ${exit}</span>`, words: '' }
      : { failed: false, tag: none, words: '' }
  if (DECLINED.test(head))
    return { failed: true, tag: markup`<span class="tag warn">declined</span>`, words: 'declined' }
  const words = hasExit ? `exit ${exit}` : 'failed'
  return { failed: true, tag: markup`<span class="tag bad">${words}</span>`, words }
}

/** A call as it is shown, without its details, which are made when it is shown: those of all calls of a message can be very many. */
export type Shown = {
  readonly view: Omit<CallView, 'details'>
  readonly changes: CallChanges | undefined
  readonly look: CallLook
  readonly outcome: Outcome
  readonly result: Result | undefined
}

/** Reads a call. */
export function* shownCall({ call, result }: Answered, folder: string | undefined): Generator<Html, Shown> {
  const { view, changes } = yield* inSteps(readCall(call), none)
  const answer = typeof result === 'string' ? undefined : result
  const { tool, kind, subject } = view
  const look = lookOf(view, answer, folder, changes)
  return { view: { tool, kind, subject }, changes, look, outcome: outcomeOf(result), result: answer }
}

function* field({ name, isText, value }: Field, how: ProseOptions): Generator<Html, void> {
  yield markup`<dt>${visibleLine(name)}</dt><dd>`
  if (isText) {
    yield markup`<pre dir="auto">\n`
    yield* sliced(value)
    yield markup`</pre>`
  } else yield* code(value, 'json', how)
  yield markup`</dd>`
}

const marks = { done: icon('done'), doing: icon('doing'), open: icon('open') } as const
const states = { done: 'Done: ', doing: 'In progress: ', open: '' } as const

/** The number of a line that a result shows, with the line. */
const NUMBERED = /^ *(\d+)(?:→|\t)(.*)$/gm
const MOST_SEARCHED = 64 * 1024

/** How many edits of a call have their places looked for: the first ones. */
const MOST_PLACED = 8

type Line = RegExpExecArray | RegExpMatchArray

/** Finds the number of the line at which an edit begins, if the result of its call shows the lines of the file. */
const newPlaces = (result: Result | undefined) => {
  let left = result && result.output.length <= MOST_SEARCHED ? MOST_PLACED : 0
  let numbered: readonly Line[] | undefined
  return (lines: Extract<Detail, { is: 'diff' }>['lines']): number | undefined => {
    if (left-- <= 0) return undefined
    numbered ??= [...result!.output.matchAll(NUMBERED)]
    const after = lines.filter(({ is }) => is === 'same' || is === 'added').slice(0, 3)
    const isHere = (i: number) => after.every(({ text }, k) => numbered![i + k]?.[2] === text)
    const at = after.length === 0 ? -1 : numbered.findIndex((_, i) => isHere(i))
    return at < 0 ? undefined : Number(numbered[at]![1])
  }
}

/** Code of a call, folded if it is long. */
function* codeDetail({ text, language }: Extract<Detail, { is: 'code' }>, rest: Rest | undefined, how: ProseOptions) {
  const fold = rest && foldOf(text)
  if (!fold) return yield* code(text, language, how)
  yield* code(fold.head, language, how)
  yield foldLink(fold, text.length, rest)
  if (fold.tail !== '') yield* code(fold.tail, language, how)
}

type Places = ReturnType<typeof newPlaces>

function* detail(one: Detail, { view }: Shown, { showing, how, id }: Context, placeOf: Places): Generator<Html, void> {
  switch (one.is) {
    case 'code':
      if (view.kind !== 'bash') return yield* codeDetail(one, restOf(showing, id), how)
      yield markup`<pre class="in-cmd" tabindex="0"><code>`
      yield* sliced(one.text)
      return yield markup`</code></pre>`
    case 'diff':
      return yield* diffTable(one.lines, {
        first: placeOf(one.lines),
        rest: restOf(showing, id),
        how,
        language: languageOf(view.subject),
      })
    case 'fields':
      yield markup`<dl class="facts">`
      for (const each of one.fields) yield* field(each, how)
      return yield markup`</dl>`
    case 'todo':
      return yield markup`<ul class="todo">${one.items.map(
        ({ state, text }) =>
          markup`<li class="${state}">${marks[state]}<span dir="auto"><span class="vh">${states[state]}</span>${text}</span></li>`,
      )}</ul>`
  }
}

/** Where the rest of a text in this message is; undefined if nothing is folded. */
const restOf = (showing: Showing, id: string): Rest | undefined =>
  folds(showing) ? { whole: showing.links!.whole(id) } : undefined

/** What a tool says of an edit that it made. */
const MOST_SAID = 300

/** A longer answer of a sub-agent is shown, and folded, like any output. */
const MOST_PROSE = 16 * 1024

const isTask = ({ kind }: Shown['view']) => kind === 'task' || kind === 'agent'

/** What a tool answered: that of a sub-agent as prose, of others as a terminal shows it. */
function* answer({ view, look, result }: Shown, { showing, how, id }: Context): Generator<Html, void> {
  if (!result) return
  const { output: text, messageId, index } = result
  if (text.trim() === '') return yield markup`<p class="say">No output.</p>`
  if (look.isEdit && !result.failed && text.length <= MOST_SAID)
    return yield markup`<p class="say" dir="auto">${text}</p>`
  const rest = restOf(showing, id)
  if (isTask(view) && !result.failed && text.length <= MOST_PROSE) {
    yield markup`<div class="prose" dir="auto">`
    yield* written(text, false, how)
    return yield markup`</div>`
  }
  yield* output(text, rest && { ...rest, text: showing.links!.text(messageId, index) })
}

/** The session of the sub-agent that a call has started. */
const childOf = (callId: string, { links }: Showing): Html => {
  const child = links?.child(callId)
  if (!child) return none
  return markup`<div class="go">${icon('sub-agent')}<a href="${child.path}"><bdi>${child.title}</bdi></a>${child.facts}</div>`
}

const classesOf = ({ look, outcome, view }: Shown): string =>
  [
    'tool',
    ...(look.isEdit ? ['edit'] : []),
    ...(isTask(view) ? ['sub-card'] : []),
    ...(outcome.failed ? ['failed'] : []),
  ].join(' ')

/** A call of a tool: one line, and its details. */
export function* tool(one: Answered, shown: Shown, context: Context): Generator<Html, void> {
  const { look, outcome } = shown
  const got =
    outcome.tag === none ? (look.got ?? none) : markup`${outcome.tag}${outcome.failed ? none : (look.got ?? none)}`
  const isOpen = outcome.failed || look.isOpen === true
  yield markup`<details class="${classesOf(shown)}"${openIf(isOpen, context.showing)}>`
  yield markup`<summary>${icon(look.icon)}<b>${look.label}</b><span class="what">${look.what}</span><span class="got">${got}</span></summary>`
  yield childOf(one.call.callId, context.showing)
  if (shown.view.kind === 'bash' && shown.view.subject !== '')
    yield markup`<p class="say" dir="auto">${shown.view.subject}</p>`
  const { details } = yield* inSteps(viewOf(one.call), none)
  const placeOf = newPlaces(shown.result)
  for (const each of details) yield* detail(each, shown, context, placeOf)
  if (one.result === 'later') yield markup`<p class="say">Its answer stands further below.</p>`
  else yield* answer(shown, context)
  yield markup`</details>`
}

/** A result whose call is not above it. */
export function* lateResult(result: Result, { showing, id }: Context): Generator<Html, void> {
  const { failed, tag } = outcomeOf(result)
  const name = visibleLine(result.toolName)
  const classes = failed ? 'tool failed' : 'tool'
  yield markup`<details class="${classes}"${openIf(failed, showing)}>`
  yield markup`<summary>${icon('tool')}<b>${name || 'Tool'}</b><span class="what"><bdi>answer to an earlier call</bdi></span><span class="got">${tag}</span></summary>`
  if (result.output.trim() === '') yield markup`<p class="say">No output.</p>`
  else {
    const rest = restOf(showing, id)
    yield* output(result.output, rest && { ...rest, text: showing.links!.text(result.messageId, result.index) })
  }
  yield markup`</details>`
}
