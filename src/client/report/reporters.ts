import { io } from '../../cli/io.ts'
import { escapeControls } from '../../base/escape.ts'
import { type Bar, newBar } from './bar.ts'
import type { Reporter } from './events.ts'
import { newEventText, type TextOptions } from './event-text.ts'

/** The streams of a command: `out` for results, `err` for everything else. */
export type Output = { readonly out: NodeJS.WriteStream; readonly err: NodeJS.WriteStream }

/** Those of the running command. */
export const ownOutput = (): Output => ({ out: io().stdout, err: io().stderr })

/** One JSON document a line on stdout, for scripts. */
export const jsonReporter =
  ({ out }: Output): Reporter =>
  (event) => {
    if (event.type !== 'progress' && event.type !== 'asking') out.write(`${escapeControls(JSON.stringify(event))}\n`)
  }

type Print = (stream: NodeJS.WriteStream, text: string) => void

/** Prints the text of each event; results on stdout. */
const newTextReporter = ({ out, err }: Output, options: TextOptions, print: Print): Reporter => {
  const textOf = newEventText(options)
  return (event) => {
    const { results = [], notices = [] } = textOf(event)
    for (const line of notices) print(err, `${escapeControls(line)}\n`)
    for (const line of results) print(out, `${escapeControls(line)}\n`)
  }
}

/** Prints a line for each session, and notices: for log files and pipes. */
export const lineReporter = (output: Output, dryRun: boolean): Reporter =>
  newTextReporter(output, { dryRun, namesSessions: true }, (stream, text) => stream.write(text))

/** Shows a progress bar on stderr instead of the sessions that were sent, and prints notices above it. */
const barReporter = (output: Output, dryRun: boolean): Reporter => {
  let bar: Bar | undefined
  const report = newTextReporter(output, { dryRun, namesSessions: false }, (stream, text) =>
    bar ? bar.print(stream, text) : stream.write(text),
  )
  return (event) => {
    if (event.type === 'start' && event.files > 0) bar = newBar(output.err, event.bytes)
    if (event.type === 'progress') bar?.advance(event.bytes, event.messages)
    if (event.type === 'summary' || event.type === 'asking') bar?.stop()
    report(event)
  }
}

/** Whether a stream is a terminal that can move its cursor. */
const isTerminal = (stream: NodeJS.WriteStream): boolean => stream.isTTY && io().env.TERM !== 'dumb'

/** The reporter for a command with these streams and options. */
export const newReporter = (output: Output, { json, dryRun }: { json: boolean; dryRun: boolean }): Reporter => {
  if (json) return jsonReporter(output)
  return isTerminal(output.err) ? barReporter(output, dryRun) : lineReporter(output, dryRun)
}
