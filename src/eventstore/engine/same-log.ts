import type pg from 'pg'
import { pause } from '../../base/waits.ts'
import type { EventLog } from '../log/log.ts'
import { ANSWER_MS, newClient, withConnection } from '../postgres/connect.ts'
import type { Checkpoint } from './checkpoint.ts'

const TIMEOUT_MS = 2_000 // how long a cluster's node may lag behind the node that was read before
const RETRY_MS = 100

/** The read models in this database were built from another log. */
export class WrongLog extends Error {
  override readonly name = 'WrongLog'

  constructor(detail: string) {
    super(
      `the read models in DATABASE_URL belong to another log (${detail}). Check EVENTSTORE_URL; for a log that was ` +
        'moved or copied, use an empty database',
    )
  }
}

/** The id of the log that this database follows. If none is stored yet, stores and returns `id`. */
const followedLog = async (client: pg.Client, id: string): Promise<string> => {
  await client.query('insert into tracebook.followed_log (id) values ($1) on conflict do nothing', [id])
  return (await client.query<{ id: string }>('select id from tracebook.followed_log')).rows[0]!.id
}

const furthest = `
  select coalesce((select max(position) from tracebook.processes), 0) as position,
    exists (select from tracebook.followed_log) as "isStored"`

/** If no id is stored yet, compares positions: processes in this database cannot have read more events than the log holds. */
const assertHoldsEnough = async (client: pg.Client, log: Pick<EventLog, 'head'>) => {
  const { position, isStored } = (await client.query<{ position: bigint; isStored: boolean }>(furthest)).rows[0]!
  if (isStored) return
  const head = await log.head()
  if (head < position) throw new WrongLog(`processes have read up to position ${position}, but the log ends at ${head}`)
}

/**
 * Checks that the read models and processes in this database follow this log, because their checkpoints are positions of one log.
 * @throws WrongLog with a message that says which setting to check
 */
export const assertSameLog = async (url: string, log: Pick<EventLog, 'head' | 'identity'>): Promise<void> => {
  const { id } = await log.identity()
  await withConnection(newClient(url, 'start', ANSWER_MS), async (client) => {
    await assertHoldsEnough(client, log)
    const followed = await followedLog(client, id)
    if (followed !== id) throw new WrongLog(`they belong to the log ${followed}, but this is the log ${id}`)
  })
}

/**
 * Whether a checkpoint is ahead of the log, or its last event is not in it. The log loses its end in a failover to a standby that
 * lagged, or when a backup is restored, and may have used the same positions for other events since.
 */
export const isAheadOfLog = async (
  log: Pick<EventLog, 'head' | 'holds'>,
  { position, anchor }: Pick<Checkpoint, 'position' | 'anchor'>,
): Promise<boolean> => {
  const until = performance.now() + TIMEOUT_MS
  for (;;) {
    const isHeld = anchor === undefined || (await log.holds(anchor.position, anchor.id)) !== false
    if (isHeld && (await log.head()) >= position) return false
    if (performance.now() > until) return true
    await pause(RETRY_MS)
  }
}
