import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type Io, withIo } from '../../src/cli/io.ts'
import { run } from '../../src/commands/program.ts'

const script = join(import.meta.dirname, '..', '..', 'src', 'main.ts')

/** The exit code of a command, and its output. */
export type Said = { readonly how: number; readonly out: string; readonly err: string }

/**
 * The input and the working folder of the command. Default: no input, and the folder of the tests. `isTerminal`: the input answers one
 * question, as on a terminal.
 */
export type Surroundings = { readonly input?: string; readonly cwd?: string; readonly isTerminal?: boolean }

/** Runs `tracebook` in this process with these arguments and only these environment variables. `HOME` is its home folder. */
export const runCommand = async (
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  { input = '', cwd = process.cwd(), isTerminal = false }: Surroundings = {},
): Promise<Said> => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  stdin.end(input)
  for (const stream of isTerminal ? [stdin, stderr] : []) Object.assign(stream, { isTTY: true })
  const [out, err] = [text(stdout), text(stderr)]
  const io = { stdin, stdout, stderr, env, cwd, script, home: env['HOME'] ?? cwd, exitCode: undefined } as unknown as Io
  await withIo(io, () => run(words)).finally(() => {
    stdout.end()
    stderr.end()
  })
  return { how: io.exitCode ?? 0, out: await out, err: await err }
}
