import { randomBytes, randomUUID } from 'node:crypto'
import { groups, mainGroup, searchGroup } from '../../projections/index.ts'
import { schemaOf } from '../../src/eventstore/engine/group.ts'
import { onServer } from '../support/database.ts'
import { until } from '../support/until.ts'
import { messages } from './corpus.ts'
import { openConnection, requestBytes } from './http.ts'
import { type Named, type Setting } from './measure.ts'
import { allCaughtUp } from './timeline-lag.ts'
import type { World } from './world.ts'

const CLIENTS = 8

/** As many messages as `messages` makes, of Base64, as files and pictures are: what compresses least of all text. */
const dense = (count: number, first = 0): object[] =>
  Array.from({ length: count }, (_, i) => ({
    ...{ externalId: `msg_${first + i}`, order: first + i, role: 'user' },
    parts: [{ type: 'text', content: { text: randomBytes(950).toString('base64') } }],
  }))

/** Writes messages to a trace for each client, `size` in a request, and gives their bytes. */
const write = async (
  { world, authorization }: { world: World; authorization: string },
  make: typeof dense,
  [size, requests]: readonly [number, number],
): Promise<number> => {
  const all = make(size * requests)
  let bytes = 0
  const send = async () => {
    const connection = await openConnection(world.url)
    const trace = `/v1/traces/${randomUUID()}`
    await world.call('PUT', trace, authorization, {})
    for (let k = 0; k < requests; k++) {
      const made = all.slice(k * size, (k + 1) * size)
      const { externalId, ...message } = made[0] as { externalId: string }
      const [method, path, body] =
        size === 1
          ? ['PUT', `${trace}/messages/${externalId}`, JSON.stringify(message)]
          : ['POST', `${trace}/messages/batch`, JSON.stringify({ messages: made })]
      const { status } = await connection.send(requestBytes(method!, path!, { authorization }, body))
      if (status !== 200) throw new Error(`${path}: ${status}`)
      bytes += body!.length
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: CLIENTS }, send))
  return bytes
}

const tables = (condition: string) =>
  `coalesce((select sum(pg_total_relation_size(c.oid)) from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and ${condition}), 0)::float8`
const inSchema = (name: string) => `n.nspname = '${name}'`

const others = groups.filter((group) => group !== mainGroup && group !== searchGroup)

const PLACES = {
  log: tables(inSchema('log')),
  'read models': tables(inSchema(schemaOf(mainGroup))),
  timeline: tables(others.map((group) => inSchema(schemaOf(group))).join(' or ')),
  'search index': tables(inSchema(schemaOf(searchGroup))),
  leaves: tables(`${inSchema('tracebook')} and c.relname in ('leaves', 'subtrees', 'tree')`),
  WAL: `(pg_current_wal_insert_lsn() - '0/0')::float8`,
}
type Place = keyof typeof PLACES

const placesStatement = `select ${Object.entries(PLACES)
  .map(([name, sql]) => `${sql} as "${name}"`)
  .join()}`

const isCovered = `select from tracebook.processes where name = 'proof' and position >= (select max(last) from log.appends)`

/** What each place takes, once all that follows the log has come to its end. */
const settled = async (world: World) => {
  await allCaughtUp(world)
  await until(async () => (await onServer(world.databaseUrl, isCovered)).rows.length > 0)
  return (await onServer(world.databaseUrl, placesStatement)).rows[0] as Record<Place, number>
}

/** Bytes on the disk for each byte of messages as they were sent, and what is written ahead, place by place. */
export const disk = async ({ world }: Setting): Promise<readonly Named[]> => {
  const { authorization } = await world.signIn('disk')
  const rows: Named[] = []
  for (const [kind, make] of Object.entries({ sessions: messages, Base64: dense }))
    for (const [way, ...sizes] of [
      ['batches', 200, 20],
      ['puts', 1, 500],
    ] as const) {
      const before = await settled(world)
      const bytes = await write({ world, authorization }, make, sizes)
      const after = await settled(world)
      const unit = 'byte/byte'
      for (const place of Object.keys(PLACES) as Place[])
        rows.push({
          name: `disk: ${kind}, ${way}: ${place}`,
          unit,
          value: (after[place] - before[place]) / bytes,
          yardstick: 1,
        })
    }
  return rows
}
