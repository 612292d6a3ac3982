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

/** Whether the server's disk is full. */
export const isDiskFull = (error: unknown): boolean => hasSqlState(error, SqlState.diskFull)
