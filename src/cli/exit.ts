import type { CommanderError } from 'commander'
import { escapeControls, escapeControlsInLines } from './escape.ts'
import { Interrupted } from './interrupt.ts'
import { io } from './io.ts'

/** What a command ends with, the same for all of them; the list for users is in `src/commands/README.md`. */
export const exitCodes = {
  /** All is well, also where there was nothing to do. */
  ok: 0,
  /** It failed, or a part of it did: the server refused or is out of reach, something could not be read, or was left out. */
  failed: 1,
  /**
   * The user has to do something else first: mend the command line, which may name what is not there, log in, or agree. Nothing was
   * done; but `sync`, which holds what needs a yes, has uploaded the rest.
   */
  usage: 2,
  /** What was looked into is not as it should be: a stream is in quarantine, read models differ from the log, a log was tampered with. */
  found: 3,
  /** `audit verify --require-kept` has nothing to compare the log with. */
  nothingKept: 4,
} as const

/** The command was used wrongly, names what is not there, or needs a login or a yes first; it has done nothing. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The message of anything thrown. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const exitCodeOf = (error: unknown): number => {
  if (error instanceof Interrupted) return error.exitCode
  return error instanceof UsageError ? exitCodes.usage : exitCodes.failed
}

/** The exit code after commander has refused the arguments, or has shown help or the version. */
export const exitCodeAfter = ({ exitCode }: CommanderError): number => (exitCode === 0 ? exitCodes.ok : exitCodes.usage)

/**
 * Runs the action of a command, and sets the exit code to the one it returns. When it throws, the message is
 * printed on stderr after `tracebook: `, or, with `json`, as a document of type `error` on stdout.
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
