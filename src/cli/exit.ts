import type { CommanderError } from 'commander'
import { escapeControls, escapeControlsInLines } from '../base/escape.ts'
import { Interrupted } from './interrupt.ts'
import { io } from './io.ts'

/** The exit codes of all commands; for users they are described in `src/commands/README.md`. */
export const exitCodes = {
  /** Success, also if there was nothing to do. */
  ok: 0,
  /** The command failed, or a part of it: the server refused or is out of reach, or something could not be read or was left out. */
  failed: 1,
  /**
   * Wrong usage (also for a name that does not exist), not logged in, or not confirmed. Nothing was done; only `sync`, which holds
   * back sessions that need confirmation, has uploaded the others.
   */
  usage: 2,
  /** A check found something: a stream is in quarantine, read models differ from the log, a log was tampered with, or what the service needs ends soon. */
  found: 3,
  /** `audit verify --require-kept` has no kept checkpoint to compare the log with. */
  nothingKept: 4,
} as const

/** Wrong usage, a name that does not exist, not logged in, or not confirmed; the command has done nothing. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The message of anything thrown. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const exitCodeOf = (error: unknown): number => {
  if (error instanceof Interrupted) return error.exitCode
  return error instanceof UsageError ? exitCodes.usage : exitCodes.failed
}

/** The exit code after commander has refused the arguments, or shown help or the version. */
export const exitCodeAfter = ({ exitCode }: CommanderError): number => (exitCode === 0 ? exitCodes.ok : exitCodes.usage)

/**
 * Runs the action of a command, and sets the exit code to the one it returns. If it throws, the message is printed on stderr
 * after `tracebook: `, or with `json` on stdout as a document of type `error`.
 */
export const runCommand = async (action: () => Promise<number>, json = false): Promise<void> => {
  try {
    io().exitCode = await action()
  } catch (error) {
    const exitCode = exitCodeOf(error)
    const message = errorMessage(error)
    if (json) io().stdout.write(`${escapeControls(JSON.stringify({ type: 'error', message, exitCode }))}\n`)
    else io().stderr.write(`tracebook: ${escapeControlsInLines(message)}\n`)
    io().exitCode = exitCode
  }
}
