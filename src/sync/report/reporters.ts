import { Presets, SingleBar } from 'cli-progress'
import { escapeControls } from '../../cli/escape.ts'
import type { Reporter, SyncEvent } from './events.ts'
import { eventText, stoppedText } from './text.ts'

/** The streams of a command: `out` for results, `err` for everything else. */
export type Output = { readonly out: NodeJS.WriteStream; readonly err: NodeJS.WriteStream }

/** One JSON document a line on stdout, for scripts. */
export const jsonReporter =
  ({ out }: Output): Reporter =>
  (event) => {
    if (event.type !== 'progress' && event.type !== 'asking') out.write(`${escapeControls(JSON.stringify(event))}\n`)
  }

const print = ({ out, err }: Output, event: SyncEvent): void => {
  const text = eventText(event)
  if (event.type === 'summary' && event.stopped !== undefined)
    err.write(`${escapeControls(stoppedText(event.stopped))}\n`)
  if (text !== undefined)
    (event.type === 'session' || event.type === 'summary' ? out : err).write(`${escapeControls(text)}\n`)
}

/** Prints a line for each session and each problem: for log files and pipes. */
export const lineReporter =
  (output: Output): Reporter =>
  (event) =>
    print(output, event)

/** Shows a progress bar on stderr, and prints the problems and the summary at the end, so that they do not tear it up. */
export const barReporter = (output: Output): Reporter => {
  const format = '{bar} {value}/{total} files, {messages} messages'
  const bar = new SingleBar({ format, stream: output.err, linewrap: true, hideCursor: false }, Presets.rect)
  const deferred: SyncEvent[] = []
  let messages = 0
  return (event) => {
    if (event.type === 'start') bar.start(event.files, 0, { messages })
    else if (event.type === 'progress') bar.update({ messages: (messages += event.messages) })
    else if (event.type === 'session') bar.increment(1, { messages })
    else if (event.type === 'asking') bar.stop()
    else if (event.type !== 'summary') deferred.push(event)
    else {
      bar.stop()
      for (const one of [...deferred, event]) print(output, one)
    }
  }
}
