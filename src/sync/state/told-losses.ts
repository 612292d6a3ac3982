import type { Database } from '../agents/support/sqlite/load.ts'
import { type StateFile, transaction } from './state-file.ts'

/**
 * What was lost of a source for good, such as a line that is no JSON object, and was told to the user: it is told once. Each is
 * named by a text, such as `line 12` or `message u-1`.
 */
export type ToldLosses = {
  /** Those of `losses` that were not told before. */
  readonly newLosses: (source: string, losses: readonly string[]) => readonly string[]
  readonly noteTold: (source: string, losses: readonly string[]) => void
}

export const toldStatements = (database: Database) => ({
  isTold: database.prepare('SELECT 1 FROM told WHERE source = ? AND loss = ?'),
  note: database.prepare('INSERT OR IGNORE INTO told (source, loss) VALUES (?, ?)'),
})

type Prepared = { readonly database: Database; readonly told: ReturnType<typeof toldStatements> }

export const newToldLosses = <P extends Prepared>(file: StateFile<P>): ToldLosses => ({
  newLosses: (source, losses) => file.use(({ told }) => losses.filter((loss) => !told.isTold.get(source, loss))),
  noteTold: (source, losses) =>
    file.use(({ database, told }) =>
      transaction(database, () => {
        for (const loss of losses) told.note.run(source, loss)
      }),
    ),
})
