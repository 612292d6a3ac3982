import { spawn } from 'node:child_process'
import { type CommandContext, entry, environment } from './commands.ts'

/** Starts `tracebook` with these arguments. */
export const start = (context: CommandContext, ...args: readonly string[]) =>
  spawn(process.execPath, [entry, ...args], { env: environment(context), stdio: ['ignore', 'pipe', 'pipe'] })
