import pg from 'pg'
import { SqlState, hasSqlState } from './sql-state.ts'

/** Whether the connection broke before anything was answered: the same statement may succeed on another one at once. */
export const isConnectionLost = (error: unknown): boolean => {
  const { code = '', message = '' } = error as { code?: string; message?: string }
  if (/^(?:Connection terminated(?! due to)|Client has)/.test(message)) return true
  return ['ECONNRESET', 'EPIPE'].includes(code) || hasSqlState(error, ...ENDED_BY_SERVER)
}

const ENDED_BY_SERVER = [
  SqlState.adminShutdown,
  SqlState.crashShutdown,
  SqlState.idleSessionTimeout,
  SqlState.idleInTransactionSessionTimeout,
]

const isMistake = (error: unknown) =>
  error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError

/** Whether the connection or the state of the server is at fault, not the statement: the same statement may succeed later. */
export const isTransient = (error: unknown): boolean => {
  if (!(error instanceof pg.DatabaseError)) return !isMistake(error) // of the socket, or a timeout: has no SQLSTATE
  return TRANSIENT_CLASSES.has((error.code ?? '08').slice(0, 2)) || hasSqlState(error, ...TRANSIENT)
}

/** The first two characters of a code are the class of an error. */
const TRANSIENT_CLASSES = new Set([
  '08', // the connection
  '40', // the transaction was rolled back
  '53', // insufficient resources
  '55', // an object is not in the state that is needed
  '57', // an operator intervened
  '58', // the system
  'XX', // an internal error
])

const TRANSIENT = [
  SqlState.readOnlySqlTransaction,
  SqlState.idleInTransactionSessionTimeout,
  SqlState.transactionTimeout,
]

/** Whether the server has cancelled a statement, as it does when one takes longer than it may; also of an error with such a cause. */
export const isCancelled = (error: unknown): boolean =>
  hasSqlState(error, SqlState.queryCanceled) || (error instanceof Error && isCancelled(error.cause))

/** Whether an error of the server says that it cannot be used now: of the connection, of its start or end, of its operating system. */
export const isAway = ({ code = '08' }: pg.DatabaseError): boolean => /^(?:08|57P|58)/.test(code)

/**
 * Why a statement has failed that may succeed later, in words for an operator.
 * @param what what did not answer, such as `the database`
 * @param statementMs how long the statement was allowed to take
 */
export const failureText = (what: string, error: unknown, statementMs: number): string => {
  if (isCancelled(error)) return `a statement of ${what} took longer than ${statementMs / 1_000} s and was cancelled`
  if (!(error instanceof pg.DatabaseError) || isAway(error)) return `${what} cannot be reached`
  return `${what} has refused a statement: ${error.message}`
}

/** Whether the server's disk is full. */
export const isDiskFull = (error: unknown): boolean => hasSqlState(error, SqlState.diskFull)
