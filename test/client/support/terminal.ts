import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { type CommandContext, entry, environment } from './commands.ts'

/** Whether this machine has util-linux's `script`, which runs a command in a terminal. */
export const hasTerminal =
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`

/** Runs `tracebook` to its end in a terminal of so many columns, and gives all that it has written there. */
export const runInTerminal = async (context: CommandContext, columns: number, ...args: readonly string[]) => {
  const command = [process.execPath, entry, ...args].map(quoted).join(' ')
  const child = spawn('script', ['-qec', `stty cols ${columns}; exec ${command}`, '/dev/null'], {
    env: { ...environment(context), PATH: process.env.PATH, TERM: 'xterm' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
  return { code: child.exitCode, output }
}
