import type { EventLog } from '../log/log.ts'
import type { Anchor } from '../log/log.ts'
import type { Checkpoint, Client, Step } from './checkpoint.ts'
import { isAheadOfLog } from './same-log.ts'

/**
 * Checkpoint of a process manager, such as erasure or summaries: one row in `tracebook.processes`. Data of these processes is
 * not in a schema of read models, so it is not rebuilt.
 */
export type ProcessCheckpoint = Pick<Checkpoint, 'position' | 'epoch' | 'anchor'>

type Row = { position: bigint; epoch: string | null; event_position: bigint | null; event_id: string | null }

/** The checkpoint of the process with this name; without a row position 0 and no anchor. */
export const readProcessCheckpoint = async (client: Client, name: string): Promise<ProcessCheckpoint> => {
  const { rows } = await client.query<Row>(
    'select position, epoch, event_position, event_id from tracebook.processes where name = $1',
    [name],
  )
  if (!rows[0]) return { position: 0n, epoch: undefined, anchor: undefined }
  const { position, epoch, event_position, event_id } = rows[0]
  const anchor: Anchor | undefined = event_id === null ? undefined : { position: event_position!, id: event_id }
  return { position, epoch: epoch ?? undefined, anchor }
}

/**
 * SQL that moves this checkpoint by compare-and-set, with the parameters of `advanceParameters`. Returns a row if the
 * checkpoint was at `$1`, and none if another process has moved it.
 */
export const advanceStatement = (name: string): string => `
  update tracebook.processes set position = $2, epoch = $3, event_position = coalesce($4, event_position),
    event_id = coalesce($5, event_id)
  where name = '${name}' and position = $1 returning 1`

export const advanceParameters = ({ from, through, epoch, anchor }: Step): unknown[] => [
  from,
  through,
  epoch,
  anchor?.position,
  anchor?.id,
]

/** Whether the log has another epoch and does not hold the anchor, which may be lost or erased. */
const isUncertain = async (log: Pick<EventLog, 'holds'>, { epoch, anchor }: ProcessCheckpoint, current: string) => {
  if (epoch === undefined || epoch === current) return false
  return anchor === undefined || (await log.holds(anchor.position, anchor.id)) !== true
}

/**
 * Whether the log, in its epoch `current`, may have lost events that this process has read. Then the process must start again at
 * position 0.
 */
export const hasLogLostEvents = async (
  log: Pick<EventLog, 'head' | 'holds'>,
  reached: ProcessCheckpoint,
  current: string,
): Promise<boolean> => (await isAheadOfLog(log, reached)) || (await isUncertain(log, reached, current))
