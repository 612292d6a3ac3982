import type { Anchor, Checkpoint, Client, Step } from '../engine/checkpoint.ts'
import { hasSeenMore } from '../engine/same-log.ts'
import type { EventLog } from '../log/log.ts'

const NAME = 'erasure'

/** How far the log has been looked through for deletions. */
export type Reached = Pick<Checkpoint, 'position' | 'epoch' | 'anchor'>

type Row = { position: bigint; epoch: string | null; event_position: bigint | null; event_id: string | null }

export const readReached = async (client: Client): Promise<Reached> => {
  await client.query('insert into tracebook.processes (name, position) values ($1, 0) on conflict do nothing', [NAME])
  const { position, epoch, event_position, event_id } = (
    await client.query<Row>(
      'select position, epoch, event_position, event_id from tracebook.processes where name = $1',
      [NAME],
    )
  ).rows[0]!
  const anchor: Anchor | undefined = event_id === null ? undefined : { position: event_position!, id: event_id }
  return { position, epoch: epoch ?? undefined, anchor }
}

/**
 * A common table expression `moved`, with one row if the checkpoint was at `$1` and is at `$2` now: nothing else of the
 * statement happens when another process has moved it. Takes the parameters of `movedBy`.
 */
export const MOVED = `
  moved as (
    update tracebook.processes set position = $2, epoch = $3, event_position = coalesce($4, event_position),
      event_id = coalesce($5, event_id)
    where name = '${NAME}' and position = $1 returning 1
  )`

export const movedBy = ({ from, through, epoch, anchor }: Step): unknown[] => [
  from,
  through,
  epoch,
  anchor?.position,
  anchor?.id,
]

const startOver = `
  with begun as (
    update tracebook.processes set position = 0, epoch = null, event_position = null, event_id = null
    where name = '${NAME}' and position = $1 returning 1
  ) delete from tracebook.erasures where exists (select from begun)`

/** In another epoch an event that stands nowhere may have been lost as well as erased. */
const isUncertain = async (log: EventLog, { epoch, anchor }: Reached, current: string): Promise<boolean> => {
  if (epoch === undefined || epoch === current) return false
  return anchor === undefined || (await log.holds(anchor.position, anchor.id)) !== true
}

/**
 * Where to go on in this epoch of the log. One that has lost what was seen is looked through anew, and what was due by it
 * is forgotten: a deletion that was lost must erase nothing, and all others are found again.
 */
export const whereToGoOn = async (client: Client, log: EventLog, epoch: string, lost: () => void): Promise<bigint> => {
  const reached = await readReached(client)
  if (!(await hasSeenMore(log, reached)) && !(await isUncertain(log, reached, epoch))) return reached.position
  lost()
  await client.query(startOver, [reached.position])
  return 0n
}
