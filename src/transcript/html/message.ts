import { isoText } from '../times.ts'
import { type Shown, type Turn, isAbout } from '../turns.ts'
import { visibleLine } from '../visible.ts'
import { icon } from './icons.ts'
import { goOnHtml } from './go-on.ts'
import { openIf } from './links.ts'
import { type Html, markup, none } from './markup.ts'
import { sliced } from './output.ts'
import { typed, written } from './prose.ts'
import { type Context, type Shown as ShownCall, lateResult, shownCall, tool } from './tool.ts'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const LENGTH_OF_DAY = 10
const LENGTH_OF_MINUTE = 16

/** What the message before says already. */
export type Before = {
  readonly kind?: Turn['kind']
  readonly model?: string | undefined
  readonly iso?: string | undefined
}

/** The time in the margin, which is the link to the message. */
const timeLink = (turn: Turn, { showing }: Context, before: Before): Html => {
  const { id, ordinal, timestamp } = turn
  const iso = isoText(timestamp)
  const href = showing.links ? showing.links.message(id) : `#m-${ordinal}`
  // A browser goes to what has the focus, also without a script: to the beginning of the message, however tall that is.
  const focus = isHere(turn, showing) ? markup` autofocus` : none
  const place = `message ${ordinal + 1}`
  if (iso === undefined)
    return markup`<a class="at" href="${href}"${focus}>#${ordinal + 1}<span class="vh">, ${place}</span></a>`
  const isOtherDay = before.iso !== undefined && before.iso.slice(0, LENGTH_OF_DAY) !== iso.slice(0, LENGTH_OF_DAY)
  const day = isOtherDay
    ? markup`<small>${Number(iso.slice(8, 10))} ${MONTHS[Number(iso.slice(5, 7)) - 1]!}</small>`
    : none
  return markup`<a class="at" href="${href}"${focus}><time datetime="${iso}">${iso.slice(11, 16)}</time>${day}<span class="vh"> UTC, ${place}</span></a>`
}

const seconds = (durationMs: number | undefined): Html =>
  durationMs === undefined || !(durationMs >= 1_000) ? none : markup` for ${Math.round(durationMs / 1_000)} s`

export type Calls = ReadonlyMap<Shown, ShownCall>

/** Reads the calls of a message, which are looked at several times. */
export function* callsOf(turn: Turn, folder: string | undefined): Generator<Html, Calls> {
  const calls = new Map<Shown, ShownCall>()
  for (const one of turn.shown) if ('is' in one) calls.set(one, yield* shownCall(one, folder))
  return calls
}

const isTool = (one: Shown) => 'is' in one || one.type === 'tool_result'

function* part(one: Shown, calls: Calls, kind: Turn['kind'], context: Context): Generator<Html, void> {
  if ('is' in one) return yield* tool(one, calls.get(one)!, context)
  switch (one.type) {
    case 'text':
      if (one.text.trim() === '') return
      yield markup`<div class="prose" dir="auto">`
      if (kind === 'prompt') yield* typed(one.text, context.how)
      else yield* written(one.text, kind === 'context', context.how)
      return yield markup`</div>`
    case 'thinking':
      if (one.text.trim() === '') return
      yield markup`<details class="think"${openIf(false, context.showing)}><summary>${icon('thinking')}Thought${seconds(one.durationMs)}</summary><div class="prose" dir="auto">`
      yield* written(one.text, false, context.how)
      return yield markup`</div></details>`
    case 'tool_result':
      return yield* lateResult(one, context)
    case 'error':
      yield markup`<div class="note bad">${icon('warning')}<div><b>Error</b> <span class="plain" dir="auto">`
      yield* sliced(one.message)
      return yield markup`</span></div></div>`
  }
}

/** The parts of a message in order; calls that follow each other are in one box. */
function* parts(turn: Turn, calls: Calls, context: Context): Generator<Html, void> {
  let isInTools = false
  for (const one of turn.shown) {
    if (isTool(one) !== isInTools) yield isInTools ? markup`</div>` : markup`<div class="tools">`
    isInTools = isTool(one)
    yield* part(one, calls, turn.kind, context)
  }
  if (isInTools) yield markup`</div>`
}

const modelOf = ({ model }: Turn, { showing }: Context): string => {
  if (model === undefined) return showing.model?.name ?? ''
  return visibleLine(model === showing.model?.id ? (showing.model.name ?? model) : model)
}

export const speakerOf = (turn: Turn, context: Context): Html =>
  markup`<div class="from"><b>${modelOf(turn, context) || 'Agent'}</b></div>`

/** Whether the speaker is another one than before. */
export const saysWho = ({ kind, model }: Turn, before: Before): boolean =>
  kind === 'prompt' ||
  (kind === 'answer' &&
    (before.kind !== 'answer' || (model !== undefined && before.model !== undefined && model !== before.model)))

/** Whether a link leads to this message, or to one that is shown in it. */
export const isHere = (turn: Turn, { here }: Context['showing']): boolean => here !== undefined && isAbout(turn, here)

const classesOf = (turn: Turn, { showing }: Context, before: Before): string => {
  const iso = isoText(turn.timestamp)
  const isSame = iso !== undefined && before.iso?.slice(0, LENGTH_OF_MINUTE) === iso.slice(0, LENGTH_OF_MINUTE)
  const isCalls = turn.kind === 'answer' && turn.shown.every(isTool)
  return [
    'msg',
    turn.kind,
    ...(saysWho(turn, before) ? ['says'] : []),
    ...(isSame ? ['same'] : []),
    ...(isCalls ? ['calls'] : []),
    ...(turn.kind === 'answer' && isTool(turn.shown.at(-1)!) ? ['ends-in-calls'] : []),
    ...(isHere(turn, showing) ? ['here'] : []),
  ].join(' ')
}

function* inside(turn: Turn, calls: Calls, context: Context, says: boolean): Generator<Html, void> {
  switch (turn.kind) {
    case 'prompt': {
      const { author } = context.showing
      const name =
        author === undefined
          ? markup`Prompt ${turn.prompts}`
          : markup`<span class="vh">Prompt ${turn.prompts} by </span><bdi>${author}</bdi>`
      const { links } = context.showing
      yield markup`<div class="ask"><header><h2>${name}</h2>${goOnHtml(links?.goOn(turn.id), true)}</header>`
      yield* parts(turn, calls, context)
      return yield markup`</div>`
    }
    case 'answer':
      if (says) yield speakerOf(turn, context)
      return yield* parts(turn, calls, context)
    case 'context':
      yield markup`<details class="context"${openIf(false, context.showing)}><summary>${icon('settings')}Context</summary>`
      yield* parts(turn, calls, context)
      return yield markup`</details>`
  }
}

/** A message as a row. */
export function* message(
  turn: Turn,
  calls: Calls,
  context: Context,
  before: Before,
  isInRun = false,
): Generator<Html, void> {
  const { id, ordinal, kind, prompts } = turn
  const current = isHere(turn, context.showing) ? markup` aria-current="true" tabindex="-1"` : none
  const number = kind === 'prompt' ? markup` data-no="${prompts}"` : none
  yield markup`<article class="${classesOf(turn, context, before)}" id="m-${ordinal}" data-id="${id}" data-ordinal="${ordinal}"${number}${current}>${timeLink(turn, context, before)}<div class="in">`
  yield* inside(turn, calls, context, saysWho(turn, before) && !isInRun)
  yield markup`</div></article>\n`
}
