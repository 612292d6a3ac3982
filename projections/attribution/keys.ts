import { type KeyedHash, keyIdOf, newKeyedHash, newLineKey } from '../../src/base/line-hashes.ts'
import type { Sender } from '../../src/eventstore/engine/projection.ts'
import { uuids } from '../../src/eventstore/postgres/arrays.ts'
import { type LineKeyRow, lineKeysStatement, lineKeysToMake, makeLineKeys } from '../../src/server/trace/line-keys.ts'
import { usedKeysTable } from '../../src/tables/attribution.ts'
import { removeTraces } from './rows.ts'
import type { ToRead } from './stored-messages.ts'

type UsedKey = { readonly namespaceId: string; readonly key: string }

const used = usedKeysTable.unnest<UsedKey>({ namespace_id: ({ namespaceId }) => namespaceId, key: ({ key }) => key })

const namespacesStatement = `
  select t.id, t.namespace_id from unnest($1::uuid[]) u (id)
  cross join lateral (select * from traces r where r.id = u.id limit 1) t`

/**
 * The keyed hash of each trace that is there, which is that of its namespace. A key that is missing is made; another node may make it at the same time,
 * so it is read again.
 */
export const readHashes = async (
  { read, write }: Sender,
  traceIds: readonly string[],
): Promise<Map<string, KeyedHash>> => {
  const traces = await read<{ id: string; namespace_id: string }>('attribution-namespaces', namespacesStatement, [
    uuids(traceIds),
  ])
  const namespaceIds = [...new Set(traces.map(({ namespace_id }) => namespace_id))]
  const readKeys = () => read<LineKeyRow>('attribution-keys', lineKeysStatement, [namespaceIds])
  let rows = await readKeys()
  const missing = namespaceIds.filter((id) => rows.every(({ namespace_id }) => namespace_id !== id))
  if (missing.length > 0) {
    await read('attribution-new-keys', makeLineKeys, lineKeysToMake(missing, newLineKey))
    rows = await readKeys()
  }
  const keys = rows.map(({ namespace_id, secret }) => ({ namespaceId: namespace_id, key: keyIdOf(secret) }))
  if (keys.length > 0) write('attribution-used', `${used.insert} on conflict do nothing`, used.values(keys))
  const hashes = new Map(rows.map(({ namespace_id, secret }) => [namespace_id, newKeyedHash(secret)]))
  return new Map(traces.map(({ id, namespace_id }) => [id, hashes.get(namespace_id)!]))
}

const ofTraces = `u.namespace_id in (
  select t.namespace_id from unnest($1::uuid[]) r (id) cross join lateral (select * from traces o where o.id = r.id limit 1) t
)`

/** SQL that forgets, and returns, the namespaces whose rows were made with a key that was lost since. */
const forget = (which: string) => `
  delete from used_keys d using (
    select u.namespace_id from used_keys u left join tracebook.attribution_keys k on k.namespace_id = u.namespace_id
    where ${which} and left(encode(sha256(k.secret), 'hex'), 8) is distinct from u.key
  ) lost
  where d.namespace_id = lost.namespace_id returning d.namespace_id`

/** The connections on which all namespaces were looked at; after that only those are that a batch changes. */
const lookedAt = new WeakSet<object>()

const lostKeys = async ({ read, session }: Sender, traceIds: readonly string[]): Promise<string[]> => {
  type Row = { namespace_id: string }
  const rows = lookedAt.has(session)
    ? await read<Row>('attribution-lost', forget(ofTraces), [uuids(traceIds)])
    : await read<Row>('', forget('true'), [])
  lookedAt.add(session)
  return rows.map(({ namespace_id }) => namespace_id)
}

/** The messages that a batch changes, and all messages of namespaces whose key was lost: their rows are removed. */
export const withLostKeys = async (sender: Sender, messages: readonly ToRead[]): Promise<readonly ToRead[]> => {
  const { read, write } = sender
  const lost = await lostKeys(sender, [...new Set(messages.map(({ traceId }) => traceId))])
  if (lost.length === 0) return messages
  const traces = await read<{ id: string }>('', 'select id from traces where namespace_id = any($1::uuid[])', [lost])
  const ids = traces.map(({ id }) => id)
  removeTraces(ids, write)
  const rows = await read<{ trace_id: string; ordinal: number }>(
    '',
    `select m.trace_id, m.ordinal from traces t join messages m on m.trace_id = t.id and m.incarnation = t.incarnation
     where t.id = any($1::uuid[])`,
    [ids],
  )
  const others = messages.filter(({ traceId }) => !ids.includes(traceId))
  return [...others, ...rows.map(({ trace_id, ordinal }) => ({ traceId: trace_id, ordinal, isNew: true }))]
}
