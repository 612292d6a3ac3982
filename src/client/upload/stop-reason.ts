import { commandName } from '../../cli/command-name.ts'
import { errorMessage, exitCodes } from '../../cli/exit.ts'
import { Interrupted } from '../../cli/interrupt.ts'
import { hasStatus, isTemporaryFailure } from '../api/errors.ts'
import { StateFailed } from '../state/state-file.ts'
import { LogReplaced } from './same-log.ts'

/** Why a run ended before its last session, and the exit code: all sessions after it would fail too. */
export type StopReason = {
  readonly why: string
  readonly exitCode: number
  /** Whether the same run cannot continue later. */
  readonly isFinal: boolean
  /** Whether another run can, because the service has another log than at the beginning of this one. */
  readonly isOtherLog?: boolean
  /** The error that prevents storing the state, if that is the reason. */
  readonly stateFailed?: StateFailed
}

/** Why a session failed. */
export const describeFailure = (error: unknown, namespaceSlug: string | undefined): string => {
  if (hasStatus(error, 403) && error.code === 'quota_exceeded')
    return `the namespace ${namespaceSlug} is full: ${error.message}`
  if (hasStatus(error, 403) && error.code === 'forbidden')
    return `another user uploaded this session to the namespace ${namespaceSlug}: only that user and admins may change it`
  if (hasStatus(error, 403)) return `the service refuses this session: ${error.message}`
  if (hasStatus(error, 404)) return `the trace no longer exists, or you may not write to it (${error.message})`
  return errorMessage(error)
}

const CONTINUE = 'Run the same command again to continue.'

/** Whether an error ends the run. */
export const stopReasonOf = (error: unknown): StopReason | undefined => {
  if (error instanceof Interrupted)
    return { why: `${error.message}. ${CONTINUE}`, exitCode: error.exitCode, isFinal: true }
  if (hasStatus(error, 401))
    return {
      why: `your session has ended. Log in again: ${commandName} login`,
      exitCode: exitCodes.usage,
      isFinal: true,
    }
  if (error instanceof LogReplaced)
    return {
      why: `${error.message}. Run the command again to upload everything again.`,
      exitCode: exitCodes.failed,
      isFinal: true,
      isOtherLog: true,
    }
  if (!isTemporaryFailure(error) && !(error instanceof StateFailed)) return undefined
  const message = errorMessage(error).replace(/[^.?!]$/, '$&.')
  const reason = { why: `${message} ${CONTINUE}`, exitCode: exitCodes.failed, isFinal: false }
  return error instanceof StateFailed ? { ...reason, stateFailed: error } : reason
}
