import type * as Sqlite from 'node:sqlite'

let sqlite: typeof Sqlite | undefined

/** `node:sqlite`, loaded when it is first needed, without the warning of Node.js 22 that it is experimental. */
export const loadSqlite = (): typeof Sqlite => {
  const { emitWarning } = process
  try {
    process.emitWarning = () => {}
    return (sqlite ??= process.getBuiltinModule('node:sqlite'))
  } finally {
    process.emitWarning = emitWarning
  }
}
