import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import { type Io, withIo } from '../../src/cli/io.ts'
import { run } from '../../src/commands/program.ts'

const script = join(import.meta.dirname, '..', '..', 'src', 'main.ts')

/** The exit code of a command, and its output. */
export type Said = { readonly how: number; readonly out: string; readonly err: string }

/**
 * The input and the working folder of the command. Default: no input, and the folder of the tests. `isTerminal`: the input answers one
 * question, as on a terminal. `answers`: all streams are a terminal, where each question gets the next one; after the last one the input ends.
 */
export type Surroundings = {
  readonly input?: string
  readonly cwd?: string
  readonly isTerminal?: boolean
  readonly answers?: readonly string[]
}

/** Writes the next answer whenever a question has been written to stderr. */
const answerQuestions = (stderr: PassThrough, stdin: PassThrough, answers: readonly string[]): void => {
  const left = [...answers]
  stderr.on('data', (chunk: Buffer) => {
    if (!stripVTControlCharacters(String(chunk)).endsWith(': ')) return
    const answer = left.shift()
    if (answer === undefined) stdin.end()
    else stdin.write(`${answer}\n`)
  })
}

/** Runs `tracebook` in this process with these arguments and only these environment variables. `HOME` is its home folder. */
export const runCommand = async (
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  { input = '', cwd = process.cwd(), isTerminal = false, answers }: Surroundings = {},
): Promise<Said> => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  if (answers) answerQuestions(stderr, stdin, answers)
  else stdin.end(input)
  for (const stream of isTerminal || answers ? [stdin, stderr] : []) Object.assign(stream, { isTTY: true })
  if (answers) Object.assign(stdout, { isTTY: true, hasColors: () => false })
  const [out, err] = [text(stdout), text(stderr)]
  const io = { stdin, stdout, stderr, env, cwd, script, home: env['HOME'] ?? cwd, exitCode: undefined } as unknown as Io
  await withIo(io, () => run(words)).finally(() => {
    stdout.end()
    stderr.end()
  })
  return { how: io.exitCode ?? 0, out: await out, err: await err }
}
