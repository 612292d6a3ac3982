import pg from 'pg'

/** Whether the connection broke before anything was answered: the same statement may succeed on another one at once. */
export const isConnectionLost = (error: unknown): boolean => {
  const { code = '', message = '' } = error as { code?: string; message?: string }
  const isEnded = /^(?:Connection terminated(?! due to)|Client has)/.test(message)
  return isEnded || ['57P01', '57P02', '57P05', '25P03', 'ECONNRESET', 'EPIPE'].includes(code)
}

const isMistake = (error: unknown) =>
  error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError

/** Whether the connection or the state of the server is at fault, not the statement: the same statement may succeed later. */
export const isTransient = (error: unknown): boolean => {
  if (!(error instanceof pg.DatabaseError)) return !isMistake(error) // of the socket, or a timeout: has no SQLSTATE
  return /^(08|53|57|58|40|55|XX|25006|25P03|25P04)/.test(error.code ?? '08')
}

/** Whether the server's disk is full. */
export const isDiskFull = (error: unknown): boolean => (error as { code?: unknown }).code === '53100'
