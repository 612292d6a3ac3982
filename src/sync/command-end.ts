import type { CommanderError } from 'commander'
import { plain, plainLines } from '../plain.ts'
import { messageOf, UsageError } from './errors.ts'
import { exitCodes } from './exit-codes.ts'

/** For `exitOverride`: what commander refuses is wrong usage; help is none. */
export const exitOnUsage = ({ exitCode }: CommanderError): void => {
  process.exit(exitCode === 0 ? exitCodes.ok : exitCodes.usage)
}

/**
 * Runs a command to its end: its exit code is what `action` gives. A failure is said on stderr in one line, or, with `json`,
 * on stdout as a document of type `error`.
 */
export const ending = async (action: () => Promise<number>, json = false): Promise<void> => {
  try {
    process.exitCode = await action()
  } catch (error) {
    const exitCode = error instanceof UsageError ? exitCodes.usage : exitCodes.incomplete
    const message = messageOf(error)
    if (json) process.stdout.write(`${plain(JSON.stringify({ type: 'error', message, exitCode }))}\n`)
    else process.stderr.write(`${plainLines(message)}\n`)
    process.exitCode = exitCode
  }
}
