import type { EventLog } from '../log/log.ts'
import type { Anchor, Checkpoint, Client, Step } from './checkpoint.ts'
import { isAheadOfLog } from './same-log.ts'

/**
 * Checkpoints of the processes that follow the log and keep what they know outside the read models, where it is not
 * rebuilt: a row for each in `tracebook.processes`.
 */
export type ProcessCheckpoint = Pick<Checkpoint, 'position' | 'epoch' | 'anchor'>

type Row = { position: bigint; epoch: string | null; event_position: bigint | null; event_id: string | null }

/** How far the process of this name has come; nowhere before it has begun. */
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
 * The update that moves the checkpoint of this name from `$1` to `$2`, and gives a row if it was there: none when
 * another process has moved it. Takes the parameters of `movedBy`.
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

/** In another epoch an event that stands nowhere may have been lost as well as erased. */
const isUncertain = async (log: Pick<EventLog, 'holds'>, { epoch, anchor }: ProcessCheckpoint, current: string) => {
  if (epoch === undefined || epoch === current) return false
  return anchor === undefined || (await log.holds(anchor.position, anchor.id)) !== true
}

/** Whether the log, which is in this epoch now, has lost some of what was followed: then all of it is followed anew. */
export const hasLogLostEvents = async (
  log: Pick<EventLog, 'head' | 'holds'>,
  reached: ProcessCheckpoint,
  current: string,
): Promise<boolean> => (await isAheadOfLog(log, reached)) || (await isUncertain(log, reached, current))
