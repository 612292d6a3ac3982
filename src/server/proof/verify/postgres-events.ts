import { closeConnection, newClient } from '../../../eventstore/postgres/connect.ts'
import { copyRows } from './binary-rows.ts'
import type { EventSource, HashedEvent } from './hashed-event.ts'
import { type Hashing, openHashing } from '../hashing.ts'
import { appendColumns, recordsIn } from './append-rows.ts'
import { newRecordCollector } from './whole-records.ts'

/** How many positions one statement reads: a longer one would keep dead rows of the whole database from being removed. */
const CHUNK_POSITIONS = 200_000n
/** How many jobs the thread has before their hashes are waited for. */
const READ_AHEAD = 3

/** Opens a read-only connection. */
export const openReadOnly = async (url: string) => {
  const client = newClient(url, 'audit')
  await client.connect()
  await client.query('set default_transaction_read_only = on; set enable_seqscan = on')
  return client
}

/** Events whose hashes are there when `hashed` resolves. */
type Pending = { readonly events: readonly HashedEvent[]; readonly hashed: Promise<void> }

/** The events of a log in PostgreSQL, read as bytes, and hashed on threads. */
export const openPostgresEvents = async (url: string): Promise<EventSource> => {
  const [client, other] = [await openReadOnly(url), await openReadOnly(url)]
  const hashing = [openHashing(), openHashing()] as const

  /** Reads the records of some queries, one after the other, and hashes meanwhile. */
  async function* read(
    from: typeof client,
    hashing: Hashing,
    queries: Iterable<string>,
  ): AsyncGenerator<readonly HashedEvent[]> {
    const { add, flush } = newRecordCollector(hashing.add)
    const pending: Pending[] = []
    let events: HashedEvent[] = []
    const send = () => {
      pending.push({ events, hashed: hashing.send() })
      events = []
    }
    const take = async () => {
      const { events, hashed } = pending.shift()!
      await hashed
      return events
    }
    for (const query of queries)
      for await (const piece of copyRows<HashedEvent>(from, query, (row, give) =>
        recordsIn(row).forEach((record) => add(record, give)),
      )) {
        for (const event of piece) events.push(event)
        if (!hashing.isFull()) continue
        send()
        if (pending.length > READ_AHEAD) yield await take()
      }
    events.push(...flush())
    send()
    while (pending.length > 0) yield await take()
  }

  function* chunks(upTo: bigint) {
    for (let after = 0n; after < upTo; after += CHUNK_POSITIONS) {
      const end = after + CHUNK_POSITIONS < upTo ? after + CHUNK_POSITIONS : upTo
      const from = after === 0n ? '' : `last > ${after} and `
      yield `select ${appendColumns} from log.appends where ${from}last <= ${end} order by last`
    }
  }

  const events = (upTo: bigint) => read(client, hashing[0], chunks(upTo))
  const ofStream = (stream: string) => {
    const name = other.escapeLiteral(stream)
    return read(other, hashing[1], [
      `select ${appendColumns} from log.appends where stream = ${name} order by revision`,
    ])
  }

  const head = async () => {
    const text = 'select coalesce(max(last), 0) as head from log.appends'
    return (await client.query<{ head: bigint }>(text)).rows[0]!.head
  }
  const logId = async () => (await client.query<{ id: string }>('select id from log.identity')).rows[0]!.id
  const close = async () => {
    await Promise.all([closeConnection(client), closeConnection(other), ...hashing.map((one) => one.close())])
  }
  return { logId, head, events, ofStream, close }
}
