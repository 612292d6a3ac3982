import { once } from 'node:events'
import { type InspectColor, styleText } from 'node:util'
import { io } from './io.ts'
import { escapeControls, escapeControlsInLines } from '../base/escape.ts'

// "Print" writes results to stdout, "say" everything else to stderr. `writeOut` writes without escaping, `runCommand` reports why a
// command has failed, and a reporter (`sync/report/`) reports the progress of an upload.

/** Streams that have the listener already. */
const watched = new WeakSet<NodeJS.WriteStream>()

/** Exits silently when the reader of a pipe has exited, as `head` does. */
const endWithReader = (stdout: NodeJS.WriteStream): void => {
  if (watched.has(stdout)) return
  watched.add(stdout)
  stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit()
  })
}

/** Writes to stdout, and waits while its reader is slow. Exits silently when the reader has exited. */
export const writeOut = async (text: string | Uint8Array): Promise<void> => {
  const { stdout } = io()
  endWithReader(stdout)
  if (!stdout.write(text)) await once(stdout, 'drain')
}

/** A listener for errors of stdout. When the reader of a pipe has exited, the rest of the output is lost, which is no failure. */
export const ignoreBrokenPipe = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EPIPE') throw error
}

const styles = { head: 'bold', dim: 'dim', bad: 'red', mark: ['bold', 'yellow'] } as const

/** `head` is a heading, `dim` is secondary, `bad` is an error, `mark` is what was looked for. */
type Style = keyof typeof styles

/** `marks` are pieces of the text, from one index to another, that have the style `mark`. */
export type Line = {
  readonly text: string
  readonly style?: Style
  readonly marks?: readonly (readonly [start: number, end: number])[]
}

const styled = (text: string, style: Style | undefined, stream: NodeJS.WriteStream): string => {
  const plain = escapeControls(text)
  return style === undefined || plain === '' ? plain : styleText(styles[style] as InspectColor, plain, { stream })
}

/** A line with its line break: control characters are escaped, and styles are used only on a terminal without NO_COLOR. */
export const shownLine = ({ text, style, marks = [] }: Line, out: NodeJS.WriteStream): string => {
  let [shown, from] = ['', 0]
  for (const [start, end] of marks) {
    shown += styled(text.slice(from, start), style, out) + styled(text.slice(start, end), 'mark', out)
    from = end
  }
  return `${shown}${styled(text.slice(from), style, out)}\n`
}

/** Prints lines on stdout. */
export const printLines = (lines: readonly (Line | string)[]): Promise<void> =>
  writeOut(lines.map((line) => shownLine(typeof line === 'string' ? { text: line } : line, io().stdout)).join(''))

/** Prints a JSON document on one line of stdout. */
export const printDocument = (document: object): Promise<void> =>
  writeOut(`${escapeControls(JSON.stringify(document))}\n`)

/** Calls `print` at most once in so many milliseconds, and not before the first have passed. */
export const atMostEvery = <Args extends readonly unknown[]>(ms: number, print: (...args: Args) => void) => {
  let printedAt = performance.now()
  return (...args: Args): void => {
    if (performance.now() - printedAt < ms) return
    printedAt = performance.now()
    print(...args)
  }
}

/** Writes a line to stderr. */
export const say = (text: string): void => void io().stderr.write(shownLine({ text }, io().stderr))

/** Writes text of several lines to stderr. */
export const sayLines = (text: string): void => void io().stderr.write(`${escapeControlsInLines(text)}\n`)
