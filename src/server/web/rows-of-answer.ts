import type { FastifyReply } from 'fastify'
import { clientOf } from '../http/node-permits.ts'
import { whenOver } from '../http/when-over.ts'
import type { RowMaking, Rows } from './row-making.ts'
import type { RowTask } from './task-steps.ts'

/** Opens tasks whose rows are for one answer. Each is closed when the answer is over, also one that is opened after that. */
export type OpenRows = (task: RowTask) => Rows

export const rowsOfAnswer =
  (rowMaking: RowMaking, { raw, request }: FastifyReply): OpenRows =>
  (task) => {
    const rows = rowMaking.open(task, clientOf(request))
    whenOver(raw, rows.close)
    return rows
  }
