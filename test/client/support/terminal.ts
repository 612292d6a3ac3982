import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import { type CommandContext, entry, environment } from './commands.ts'

/** Whether this machine has util-linux's `script`, which runs a command in a terminal. */
export const hasTerminal =
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`

/** Starts `tracebook` in a terminal of so many columns. */
const startInTerminal = (
  context: CommandContext,
  columns: number,
  args: readonly string[],
  stdin: 'ignore' | 'pipe',
): ChildProcess => {
  const command = [process.execPath, entry, ...args].map(quoted).join(' ')
  return spawn('script', ['-qec', `stty cols ${columns}; exec ${command}`, '/dev/null'], {
    env: { ...environment(context), PATH: process.env.PATH, TERM: 'xterm' },
    stdio: [stdin, 'pipe', 'inherit'],
  })
}

const toItsEnd = async (child: ChildProcess) => {
  const [output] = await Promise.all([text(child.stdout!), once(child, 'close')])
  return { code: child.exitCode, output }
}

/** Runs `tracebook` to its end in a terminal of so many columns, and gives all that it has written there. */
export const runInTerminal = (context: CommandContext, columns: number, ...args: readonly string[]) =>
  toItsEnd(startInTerminal(context, columns, args, 'ignore'))

/** The same, where each question, which ends with a colon, gets the next of these answers. */
export const answerInTerminal = (context: CommandContext, answers: readonly string[], ...args: readonly string[]) => {
  const child = startInTerminal(context, 200, args, 'pipe')
  const left = [...answers]
  child.stdout!.on('data', (chunk: Buffer) => {
    if (stripVTControlCharacters(String(chunk)).endsWith(': ')) child.stdin!.write(left.shift() ?? '\u0004')
  })
  return toItsEnd(child)
}
