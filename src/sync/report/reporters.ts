import { Presets, SingleBar } from 'cli-progress'
import { plain } from '../../cli/escape.ts'
import type { Report, SyncEvent } from './events.ts'
import { eventText, stoppedText } from './text.ts'

/** Where a command writes to: `out` for results, `err` for everything else. */
export type Output = { readonly out: NodeJS.WriteStream; readonly err: NodeJS.WriteStream }

/** One JSON document a line on stdout, for scripts. */
export const jsonReport =
  ({ out }: Output): Report =>
  (event) => {
    if (event.type !== 'progress') out.write(`${plain(JSON.stringify(event))}\n`)
  }

const print = ({ out, err }: Output, event: SyncEvent): void => {
  const text = eventText(event)
  if (event.type === 'summary' && event.stopped !== undefined) err.write(`${plain(stoppedText(event.stopped))}\n`)
  if (text !== undefined) (event.type === 'session' || event.type === 'summary' ? out : err).write(`${plain(text)}\n`)
}

/** A line for each session and each problem, for logs and pipes. */
export const lineReport =
  (output: Output): Report =>
  (event) =>
    print(output, event)

/** A progress bar on stderr, and below it, at the end, the problems and the summary. */
export const barReport = (output: Output): Report => {
  const format = '{bar} {value}/{total} files, {messages} messages'
  const bar = new SingleBar({ format, stream: output.err, linewrap: true, hideCursor: false }, Presets.rect)
  const held: SyncEvent[] = []
  let messages = 0
  return (event) => {
    if (event.type === 'start') bar.start(event.files, 0, { messages })
    else if (event.type === 'progress') bar.update({ messages: (messages += event.messages) })
    else if (event.type === 'session') bar.increment(1, { messages })
    else if (event.type !== 'summary') held.push(event)
    else {
      bar.stop()
      for (const one of [...held, event]) print(output, one)
    }
  }
}
