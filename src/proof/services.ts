import type { Logger } from 'pino'
import type { ReadTables } from '../../projections/tables.ts'
import type { Reads } from '../engine/reads.ts'
import type { Codec } from '../engine/codec.ts'
import type { EventLog } from '../log/log.ts'
import type { ProofSettings } from './settings.ts'

/** What the routes of the tree and of proofs need. */
export type ProofServices = {
  readonly reads: Reads<ReadTables>
  readonly log: Pick<EventLog, 'read' | 'identity'>
  readonly codec: Codec
  readonly logger: Pick<Logger, 'error'>
  readonly config: Pick<ProofSettings, 'AUDIT_PUBLIC'>
  readonly checkpoints: {
    /** False where this process would sign them, but has no key. */
    readonly areServed: boolean
    /** Until when the first one of a new service may be waited for, by `performance.now()`. */
    readonly waitUntil: number
  }
}
