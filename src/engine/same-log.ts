import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import type { EventLog } from '../log/log.ts'
import { hangUp, newClient } from '../postgres/connect.ts'
import type { Checkpoint } from './checkpoint.ts'

const PATIENCE_MS = 2_000 // a node of a cluster may be behind the one that was followed
const AGAIN_MS = 100
const STATEMENT_MS = 5_000

/** What is derived from a log, and kept in this database, belongs to another log than the one that was opened. */
export class WrongLog extends Error {
  override readonly name = 'WrongLog'

  constructor(detail: string) {
    super(
      `the read models in DATABASE_URL belong to another log (${detail}). Look at EVENTSTORE_URL; for a log that was ` +
        'moved or copied, use an empty database',
    )
  }
}

/** The log that this database follows; of a database from before logs had ids the first one that fits is noted. */
const followedLog = async (client: pg.Client, id: string): Promise<string> => {
  await client.query('insert into tracebook.followed_log (id) values ($1) on conflict do nothing', [id])
  return (await client.query<{ id: string }>('select id from tracebook.followed_log')).rows[0]!.id
}

const furthest = `
  select coalesce((select max(position) from tracebook.processes), 0) as position,
    exists (select from tracebook.followed_log) as noted`

/** Of a log without a noted id only the positions can tell: nobody can have seen more than it holds. */
const assertHoldsEnough = async (client: pg.Client, log: Pick<EventLog, 'head'>) => {
  const { position, noted } = (await client.query<{ position: bigint; noted: boolean }>(furthest)).rows[0]!
  if (noted) return
  const head = await log.head()
  if (head < position) throw new WrongLog(`position ${position} has been seen, but the log ends at ${head}`)
}

/**
 * Keeps a database from being filled from a log that is not its own: positions of another one mean nothing here.
 * @throws WrongLog with what to look at
 */
export const assertSameLog = async (url: string, log: Pick<EventLog, 'head' | 'identity'>): Promise<void> => {
  const { id } = await log.identity()
  const client = newClient(url, 'start', STATEMENT_MS)
  client.on('error', () => {})
  try {
    await client.connect()
    await assertHoldsEnough(client, log)
    const followed = await followedLog(client, id)
    if (followed !== id) throw new WrongLog(`they follow ${followed}, this one is ${id}`)
  } finally {
    await hangUp(client)
  }
}

/**
 * Whether a checkpoint stands behind events that the log no longer holds: its end was lost, in a failover to a standby
 * that lagged or with a restored backup, and positions may have been given to other events since.
 */
export const isAheadOfLog = async (
  log: Pick<EventLog, 'head' | 'holds'>,
  { position, anchor }: Pick<Checkpoint, 'position' | 'anchor'>,
): Promise<boolean> => {
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    const isHeld = anchor === undefined || (await log.holds(anchor.position, anchor.id)) !== false
    if (isHeld && (await log.head()) >= position) return false
    if (performance.now() > until) return true
    await setTimeout(AGAIN_MS)
  }
}
