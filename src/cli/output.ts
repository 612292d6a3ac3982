import { once } from 'node:events'
import { styleText } from 'node:util'
import { io } from './io.ts'
import { escapeControls, escapeControlsInLines } from './escape.ts'

// To print is for results, on stdout; to say is for all else, on stderr. `writeOut` writes what is printed as it is, `runCommand` tells why
// a command has failed, and a reporter (`sync/report/`) prints and says what becomes of a run.

/** Those whose readers are looked after. */
const watched = new WeakSet<NodeJS.WriteStream>()

/** Ends the process without a word once the reader of a pipe has gone, as `head` does. */
const endWithReader = (stdout: NodeJS.WriteStream): void => {
  if (watched.has(stdout)) return
  watched.add(stdout)
  stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit()
  })
}

/** Writes to stdout, and waits while its reader is slow. Exits without a word when the reader has gone. */
export const writeOut = async (text: string | Uint8Array): Promise<void> => {
  const { stdout } = io()
  endWithReader(stdout)
  if (!stdout.write(text)) await once(stdout, 'drain')
}

/** For the errors of stdout: the reader of a pipe may leave, and what is still printed is lost then. That is no failure. */
export const ignoreBrokenPipe = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EPIPE') throw error
}

const styles = { head: 'bold', dim: 'dim', bad: 'red' } as const

/** How a line is shown: `head` is a heading, `dim` is beside the point, `bad` is an error. */
export type Line = { readonly text: string; readonly style?: keyof typeof styles }

/** A line as it is printed, with its end: foreign text is escaped, and a style is there on a terminal only, without NO_COLOR. */
export const shownLine = ({ text, style }: Line, out: NodeJS.WriteStream): string => {
  const plain = escapeControls(text)
  return `${style === undefined ? plain : styleText(styles[style], plain, { stream: out })}\n`
}

/** Prints lines on stdout. */
export const printLines = (lines: readonly (Line | string)[]): Promise<void> =>
  writeOut(lines.map((line) => shownLine(typeof line === 'string' ? { text: line } : line, io().stdout)).join(''))

/** Prints a document of --json on a line of stdout. */
export const printDocument = (document: object): Promise<void> =>
  writeOut(`${escapeControls(JSON.stringify(document))}\n`)

/** Says a line that is no result. */
export const say = (text: string): void => void io().stderr.write(shownLine({ text }, io().stderr))

/** Says what may have several lines, such as the description of what the user is asked about. */
export const sayLines = (text: string): void => void io().stderr.write(`${escapeControlsInLines(text)}\n`)
