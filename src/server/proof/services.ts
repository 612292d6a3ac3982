import type { Logger } from 'pino'
import type { ReadTables } from '../../tables/main.ts'
import type { Reads } from '../../eventstore/engine/reads.ts'
import type { Codec } from '../../eventstore/engine/codec.ts'
import type { EventLog } from '../../eventstore/log/log.ts'
import type { ProofSettings } from './settings.ts'

/** The parts of the service that the routes of the tree and of proofs need. */
export type ProofServices = {
  readonly reads: Reads<ReadTables>
  readonly log: Pick<EventLog, 'read' | 'identity'>
  readonly codec: Codec
  readonly logger: Pick<Logger, 'error'>
  readonly config: Pick<ProofSettings, 'AUDIT_PUBLIC'>
  readonly checkpoints: {
    /** False if this process should sign them, but has no key. */
    readonly areServed: boolean
    /** Until when to wait for the first checkpoint of a new service, by `performance.now()`. */
    readonly waitUntil: number
  }
}
