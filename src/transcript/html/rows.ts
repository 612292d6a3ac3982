import { newWords } from '../diff.ts'
import { newHighlight } from '../highlight.ts'
import { isoText } from '../times.ts'
import type { Turn } from '../turns.ts'
import { type Showing, type View, openIf } from './links.ts'
import { type Html, markup, none } from './markup.ts'
import { type Before, type Calls, callsOf, isHere, message, saysWho, speakerOf } from './message.ts'
import { counted } from './output.ts'
import type { Context, Shown } from './tool.ts'

/** The least number of successive quiet calls, in messages with nothing else, that are shown as one line. */
const LEAST_IN_RUN = 4
/** The most messages of such a run: a longer one becomes several, because a run is shown only when it is complete. */
const MOST_IN_RUN = 40
const MOST_RUN_CHARACTERS = 256 * 1024

type Waiting = { readonly turn: Turn; readonly calls: Calls }

/** A message as `newRows` reports it, with all its calls, even if the view does not show them. */
export type RowReport = {
  readonly turn: Turn
  readonly calls: Calls
  /** Whether the view shows anything of it. */
  readonly isShown: boolean
  /** Where the message is, if the view does not show it. */
  readonly elsewhere: string | undefined
}

/** Called with each message; may work in steps. */
export type OnRow = (row: RowReport) => Iterable<Html> | undefined

type Rows = {
  /** The rows that are complete with this message, in steps. */
  add(turn: Turn): Iterable<Html>
  /** A message that is not shown, but comes before the next one. */
  pass(turn: Turn): void
  /** The rows that were still waiting. */
  end(): Iterable<Html>
}

/** Whether a call may be one of a run: it succeeded, changed no file, is closed at first, and started no sub-agent or list of tasks. */
const isQuiet = ({ look, outcome, result, view }: Shown): boolean =>
  result !== undefined &&
  !outcome.failed &&
  !look.isEdit &&
  look.isOpen !== true &&
  !['task', 'agent', 'todo_write'].includes(view.kind)

/** The parts of a turn that a view shows. */
const partsShownIn = (view: View, turn: Turn): Turn['shown'] => {
  if (view === 'full' || turn.kind === 'prompt') return turn.shown
  if (turn.kind === 'context') return []
  return turn.shown.filter((one) =>
    view === 'tools'
      ? 'is' in one || one.type === 'tool_result'
      : !('is' in one) && (one.type === 'text' || one.type === 'error'),
  )
}

const lengthOf = (turn: Turn): number =>
  turn.shown.reduce(
    (sum, one) =>
      'is' in one ? sum + one.call.args.length + (typeof one.result === 'string' ? 0 : one.result.output.length) : sum,
    0,
  )

/** How often each tool was called, such as `Read 3, Shell 2`. */
const tally = (labels: readonly string[]): string => {
  const counts = new Map<string, number>()
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1)
  return [...counts].map(([label, count]) => `${label} ${count}`).join(', ')
}

/** Makes rows of messages. */
export const newRows = (showing: Showing, note?: OnRow): Rows => {
  const how = { highlight: newHighlight(), words: newWords(), hasLinks: showing.links !== undefined }
  const contextOf = (turn: Turn): Context => ({ showing, how, id: turn.id })
  let before: Before = {}
  let run: Waiting[] = []
  let runLength = 0

  function* row({ turn, calls }: Waiting, isInRun: boolean): Generator<Html, void> {
    yield* message(turn, calls, contextOf(turn), before, isInRun)
    pass(turn)
  }

  const pass = (turn: Turn) => {
    before = {
      kind: turn.kind,
      model: turn.model ?? (turn.kind === 'answer' ? before.model : undefined),
      iso: isoText(turn.timestamp) ?? before.iso,
    }
  }

  function* flush(): Generator<Html, void> {
    const waiting = run
    run = []
    runLength = 0
    const shown = waiting.flatMap(({ calls }) => [...calls.values()])
    const isRun = shown.length >= LEAST_IN_RUN
    const [first] = waiting
    if (isRun) {
      const isOpen = waiting.some(({ turn }) => isHere(turn, showing))
      const speaker = saysWho(first!.turn, before) ? speakerOf(first!.turn, contextOf(first!.turn)) : none
      yield speaker === none
        ? none
        : markup`<div class="msg who-says"><span class="at"></span><div class="in">${speaker}</div></div>`
      yield markup`<details class="run"${openIf(isOpen, showing)}>`
      yield markup`<summary><b>${counted(shown.length, 'call')}</b><span>${tally(shown.map(({ look }) => look.label))}</span></summary>\n`
    }
    for (const one of waiting) yield* row(one, isRun)
    if (isRun) yield markup`</details>\n`
  }

  function* add(given: Turn): Generator<Html, void> {
    const shown = partsShownIn(showing.view ?? 'full', given)
    const turn = { ...given, shown }
    const calls = yield* callsOf(note ? given : turn, showing.folder)
    const { links } = showing
    const isShown = shown.length > 0
    const elsewhere = !isShown ? links?.message(given.id) : undefined
    yield* note?.({ turn: given, calls, isShown, elsewhere }) ?? []
    if (!isShown) return
    const length = lengthOf(turn)
    const isInRun =
      turn.kind === 'answer' &&
      shown.every((one) => 'is' in one && isQuiet(calls.get(one)!)) &&
      length < MOST_RUN_CHARACTERS
    if (!isInRun || run.length >= MOST_IN_RUN || runLength + length > MOST_RUN_CHARACTERS) yield* flush()
    if (!isInRun) return yield* row({ turn, calls }, false)
    run.push({ turn, calls })
    runLength += length
  }

  return { add, pass, end: flush }
}
