import { textNames } from '../../contract/trace-texts.ts'
import { type ReadTables, columnOf } from '../../tables/main.ts'
import type { TraceFields } from './state.ts'

/** A row of `traces` with its message count. Texts of clients are JSON string literals. */
export type TraceRow = Omit<
  ReadTables['traces'],
  'key' | 'parent_key' | 'updated_slot' | 'bytes' | 'incarnation' | 'erased' | 'revision' | 'at'
> & {
  message_count: bigint | null
  shape: string | null
  /** The JSON text of what its messages have used, in groups (`../usage/sums.ts`). */
  used: string | null
}

/** A row of a list of traces, with an estimate of the bytes that it adds to the answer, rather too small. */
export type ListedRow = TraceRow & { size: number; child_count?: bigint }

/** The fields of a row, as in the state for decisions. */
export const fieldsOf = (row: Omit<TraceRow, 'shape' | 'used'>): TraceFields => {
  const fields: Record<string, unknown> = { visibility: row.visibility }
  for (const name of textNames) {
    const text = row[columnOf[name]]
    if (text !== null) fields[name] = JSON.parse(text)
  }
  return fields as TraceFields
}
