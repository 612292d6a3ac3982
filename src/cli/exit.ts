import type { CommanderError } from 'commander'
import { escapeControls, escapeControlsInLines } from './escape.ts'
import { Interrupted } from './interrupt.ts'

/** `incomplete`: something failed or was skipped for good. `usage`: wrong usage, or not logged in. */
export const exitCodes = { ok: 0, incomplete: 1, usage: 2 } as const

/** The command was used wrongly, or needs a login first; it has done nothing. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The message of anything thrown. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const exitCodeOf = (error: unknown): number => {
  if (error instanceof Interrupted) return error.exitCode
  return error instanceof UsageError ? exitCodes.usage : exitCodes.incomplete
}

/** For commander's `exitOverride`: exits with 2 where commander refuses the arguments, with 0 after help and version. */
export const exitOnUsage = ({ exitCode }: CommanderError): void => {
  process.exit(exitCode === 0 ? exitCodes.ok : exitCodes.usage)
}

/**
 * Runs the action of a command, and sets the exit code of the process to the one it returns. When it throws, the message is
 * printed on stderr after `tracebook: `, or, with `json`, as a document of type `error` on stdout.
 */
export const runCommand = async (action: () => Promise<number>, json = false): Promise<void> => {
  try {
    process.exitCode = await action()
  } catch (error) {
    const exitCode = exitCodeOf(error)
    const message = errorMessage(error)
    if (json) process.stdout.write(`${escapeControls(JSON.stringify({ type: 'error', message, exitCode }))}\n`)
    else process.stderr.write(`tracebook: ${escapeControlsInLines(message)}\n`)
    process.exitCode = exitCode
  }
}
