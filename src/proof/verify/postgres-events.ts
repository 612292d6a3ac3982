import { closeConnection, newClient } from '../../postgres/connect.ts'
import { copyRows } from './binary-rows.ts'
import type { EventSource, HashedEvent } from './hashed-event.ts'
import { newRecordCollector, recordColumns } from './whole-records.ts'

/** One statement reads so many positions: a longer one would keep dead rows of the whole database from being cleared away. */
const PAGE_POSITIONS = 200_000n

/** Opens a connection that changes nothing. */
export const openReadOnly = async (url: string) => {
  const client = newClient(url, 'audit')
  client.on('error', () => {})
  await client.connect()
  await client.query('set default_transaction_read_only = on; set enable_seqscan = on')
  return client
}

/** The events of a log in PostgreSQL, read as bytes. */
export const openPostgresEvents = async (url: string): Promise<EventSource> => {
  const [client, other] = [await openReadOnly(url), await openReadOnly(url)]

  async function* events(upTo: bigint) {
    const { add, flush } = newRecordCollector()
    for (let after = 0n; after < upTo; after += PAGE_POSITIONS) {
      const end = after + PAGE_POSITIONS < upTo ? after + PAGE_POSITIONS : upTo
      const range = `${after === 0n ? '' : `position > ${after} and `}position <= ${end}`
      yield* copyRows<HashedEvent>(
        client,
        `select ${recordColumns} from log.events where ${range} order by position`,
        add,
      )
    }
    yield flush()
  }

  async function* ofStream(stream: string) {
    const name = other.escapeLiteral(stream)
    const query = `select ${recordColumns} from log.events where stream = ${name} order by revision`
    const { add, flush } = newRecordCollector()
    yield* copyRows<HashedEvent>(other, query, add)
    yield flush()
  }

  const head = async () => {
    const text = 'select coalesce(max(position), 0) as head from log.events'
    return (await client.query<{ head: bigint }>(text)).rows[0]!.head
  }
  const logId = async () => (await client.query<{ id: string }>('select id from log.identity')).rows[0]!.id
  const close = async () => {
    await Promise.all([closeConnection(client), closeConnection(other)])
  }
  return { logId, head, events, ofStream, close }
}
