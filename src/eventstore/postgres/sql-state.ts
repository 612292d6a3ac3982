/** Codes of PostgreSQL's errors, by the names that its manual gives them (appendix "Error Codes"). */
export const SqlState = {
  uniqueViolation: '23505',
  readOnlySqlTransaction: '25006',
  protocolViolation: '08P01',
  idleInTransactionSessionTimeout: '25P03',
  transactionTimeout: '25P04',
  invalidSchemaName: '3F000',
  insufficientPrivilege: '42501',
  undefinedTable: '42P01',
  diskFull: '53100',
  tooManyConnections: '53300',
  lockNotAvailable: '55P03',
  queryCanceled: '57014',
  adminShutdown: '57P01',
  crashShutdown: '57P02',
  cannotConnectNow: '57P03',
  idleSessionTimeout: '57P05',
} as const

/** Whether an error has one of these codes; false if it is not an error of PostgreSQL. */
export const hasSqlState = (error: unknown, ...codes: readonly string[]): boolean => {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' && codes.includes(code)
}
