import type pg from 'pg'
import { pause } from '../base/waits.ts'
import type { EventLog } from '../log/log.ts'
import { ANSWER_MS, closeConnection, newClient } from '../postgres/connect.ts'
import type { Checkpoint } from './checkpoint.ts'

const TIMEOUT_MS = 2_000 // how long a node of a cluster may lag behind the node that was followed before
const RETRY_MS = 100

/** The read models in this database were built from another log than the one that was opened. */
export class WrongLog extends Error {
  override readonly name = 'WrongLog'

  constructor(detail: string) {
    super(
      `the read models in DATABASE_URL belong to another log (${detail}). Look at EVENTSTORE_URL; for a log that was ` +
        'moved or copied, use an empty database',
    )
  }
}

/** The id of the log that this database follows. Where none is stored yet, `id` is stored and given. */
const followedLog = async (client: pg.Client, id: string): Promise<string> => {
  await client.query('insert into tracebook.followed_log (id) values ($1) on conflict do nothing', [id])
  return (await client.query<{ id: string }>('select id from tracebook.followed_log')).rows[0]!.id
}

const furthest = `
  select coalesce((select max(position) from tracebook.processes), 0) as position,
    exists (select from tracebook.followed_log) as noted`

/** Where no id is stored yet, positions must do: this database cannot have seen more than its log holds. */
const assertHoldsEnough = async (client: pg.Client, log: Pick<EventLog, 'head'>) => {
  const { position, noted } = (await client.query<{ position: bigint; noted: boolean }>(furthest)).rows[0]!
  if (noted) return
  const head = await log.head()
  if (head < position) throw new WrongLog(`position ${position} has been seen, but the log ends at ${head}`)
}

/**
 * Checks that the read models and processes in this database follow this log: its checkpoints are positions of one log.
 * @throws WrongLog with a message that says which setting to check
 */
export const assertSameLog = async (url: string, log: Pick<EventLog, 'head' | 'identity'>): Promise<void> => {
  const { id } = await log.identity()
  const client = newClient(url, 'start', ANSWER_MS)
  client.on('error', () => {})
  try {
    await client.connect()
    await assertHoldsEnough(client, log)
    const followed = await followedLog(client, id)
    if (followed !== id) throw new WrongLog(`they follow ${followed}, this one is ${id}`)
  } finally {
    await closeConnection(client)
  }
}

/**
 * Whether a checkpoint covers events that the log no longer holds. The log loses its end in a failover to a standby that
 * lagged, or with a restored backup, and may have given out the same positions again since.
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
