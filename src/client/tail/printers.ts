import { escapeControls } from '../../base/escape.ts'
import { LISTED_TITLE, truncateLine } from '../../base/texts.ts'
import { type Line, shownLine } from '../../cli/output.ts'
import { shortTime } from '../../cli/time-text.ts'
import type { ValueOf } from '../../contract/realtime.ts'
import type { MessageValue } from '../../contract/realtime-client/messages.ts'
import { messageLines } from './message-lines.ts'

/** A trace in the feed. */
export type FeedTraceValue = ValueOf<'feed:getPublicTraces'>[number]

/** `out` for content, `err` for messages about it. */
export type Output = { readonly out: NodeJS.WriteStream; readonly err: NodeJS.WriteStream }

/** Shows the followed content. */
export type Printer = {
  messages(messages: readonly MessageValue[]): void
  /** The current state of a feed, the newest trace first; at the first call at most `atFirst` traces are shown. */
  traces(traces: readonly FeedTraceValue[], atFirst: number): void
  /** The content was deleted, or may no longer be read. */
  gone(what: string): void
}

const MIN_WIDTH = 40
const USUAL_WIDTH = 100
const MARGIN = 20

const TIME = 'Feb 21, 2027, 19:41'.length

const count = (messages: number) => `${messages} ${messages === 1 ? 'message' : 'messages'}`

/** A trace of a feed on one line; `before` is its state when it was last shown. */
const traceLine = (trace: FeedTraceValue, before: FeedTraceValue | undefined): string => {
  const { title, ai_title: summaryTitle, externalId, messageCount = 0, visibility, updatedAt, createdAt } = trace
  const added = messageCount - (before?.messageCount ?? messageCount)
  const time = shortTime(updatedAt ?? createdAt).padEnd(TIME)
  const messages = `${count(messageCount)}${added > 0 ? ` (+${added})` : ''}`
  return `${time} ${externalId}  ${messages}  ${visibility}  ${truncateLine(title ?? summaryTitle ?? '', LISTED_TITLE)}`.trimEnd()
}

/** Whether the line of a trace has changed. */
const hasChanged = (trace: FeedTraceValue, before: FeedTraceValue | undefined): boolean =>
  before === undefined ||
  (['title', 'ai_title', 'messageCount', 'visibility', 'updatedAt'] as const).some(
    (name) => trace[name] !== before[name],
  )

/** Returns the traces of a feed that have changed since the last call, the oldest first. */
const newChangedTraces = () => {
  let known: ReadonlyMap<string, FeedTraceValue> | undefined
  return (traces: readonly FeedTraceValue[], atFirst: number) => {
    const before = known
    known = new Map(traces.map((trace) => [trace.id, trace]))
    const changed = traces
      .filter((trace) => hasChanged(trace, before?.get(trace.id)))
      .map((trace) => ({ trace, before: before?.get(trace.id) }))
    return (before ? changed : changed.slice(0, atFirst)).reverse()
  }
}

/** The approximate width of a line of a message. */
export const messageWidth = (out: NodeJS.WriteStream): number =>
  Math.max(MIN_WIDTH, (out.columns ?? USUAL_WIDTH) - MARGIN)

const startsWith = (lines: readonly Line[], start: readonly Line[]) =>
  start.length < lines.length && start.every(({ text }, i) => text === lines[i]!.text)

/** For people. If lines were added to a message, these are shown; after another change the whole message is shown again. */
export const textPrinter = ({ out, err }: Output): Printer => {
  const shown = new Map<string, readonly Line[]>()
  const changedTraces = newChangedTraces()

  const print = (line: Line) => void out.write(shownLine(line, out))

  const message = (message: MessageValue) => {
    const lines = messageLines(message, messageWidth(out))
    const before = shown.get(message.id)
    shown.set(message.id, lines)
    if (before && startsWith(lines, before)) return lines.slice(before.length).forEach(print)
    if (before && lines.length === before.length && lines.every(({ text }, i) => text === before[i]!.text)) return
    const [head, ...body] = lines
    print(before ? { ...head!, text: `${head!.text} changed` } : head!)
    body.forEach(print)
  }

  return {
    messages: (messages) => messages.forEach(message),
    traces: (traces, atFirst) => {
      for (const { trace, before } of changedTraces(traces, atFirst)) print({ text: traceLine(trace, before) })
    },
    gone: (what) => {
      shown.clear()
      err.write(`${escapeControls(what)}\n`)
    },
  }
}

/** For scripts: one JSON document per line. */
export const jsonPrinter = ({ out }: Output): Printer => {
  const changedTraces = newChangedTraces()
  const print = (document: object) => out.write(`${escapeControls(JSON.stringify(document))}\n`)
  return {
    messages: (messages) => {
      for (const message of messages) print({ type: 'message', message })
    },
    traces: (traces, atFirst) => {
      for (const { trace } of changedTraces(traces, atFirst)) print({ type: 'trace', trace })
    },
    gone: () => print({ type: 'gone' }),
  }
}
