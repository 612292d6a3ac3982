import type { Database } from '../agents/support/sqlite/load.ts'
import { type StateFile, transaction } from './state-file.ts'

/**
 * What was lost of an agent's sessions for good, such as a line that is no JSON object, and was told to the user: it is told once,
 * wherever the session's file is. Each is named by a text, such as `5e55… line 12` or `5e55… message u-1`.
 */
export type ToldLosses = {
  /** Those of `losses` that were not told before. */
  readonly newLosses: (agentId: string, losses: readonly string[]) => readonly string[]
  readonly noteTold: (agentId: string, losses: readonly string[]) => void
}

export const toldStatements = (database: Database) => ({
  isTold: database.prepare('SELECT 1 FROM told WHERE agent = ? AND loss = ?'),
  note: database.prepare('INSERT OR IGNORE INTO told (agent, loss) VALUES (?, ?)'),
})

type Prepared = { readonly database: Database; readonly told: ReturnType<typeof toldStatements> }

export const newToldLosses = <P extends Prepared>(file: StateFile<P>): ToldLosses => ({
  newLosses: (agentId, losses) => file.use(({ told }) => losses.filter((loss) => !told.isTold.get(agentId, loss))),
  noteTold: (agentId, losses) =>
    file.use(({ database, told }) =>
      transaction(database, () => {
        for (const loss of losses) told.note.run(agentId, loss)
      }),
    ),
})
