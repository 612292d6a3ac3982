import type pg from 'pg'
import { signCheckpoint } from '../../../../src/server/proof/checkpoint.ts'
import { leafHashOf } from '../../../../src/server/proof/entry.ts'
import { generateSigner } from '../../../../src/server/proof/note.ts'

/** Pseudo-random, the same for the same seed. */
const newRandom = (seed: number) => {
  let state = seed * 2_654_435_761
  return (below: number): number => {
    state = (Math.imul(state ^ (state >>> 15), 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** A row of the log, as text. */
export type Event = {
  position: string
  stream: string
  revision: string
  id: string
  type: string
  data: string
  metadata: string
}
/** What a way works with. */
export type Ways = {
  readonly client: pg.Client
  readonly random: (below: number) => number
  /** A row of the log; not a part of a split append, unless it is asked for. */
  readonly event: (where?: string) => Promise<Event>
}

/** Tampers, and gives the ids of the events that must be named; none where no event can be. */
export type Way = (ways: Ways) => Promise<readonly string[]>

const run = (client: pg.Client, text: string, values: unknown[] = []) => client.query(text, values)

const PLAIN = `type in ('MessageAdded', 'TraceDeleted')`

/** Positions of erased events, where an inserted one can lie. */
const freePosition = async (client: pg.Client): Promise<string> => {
  const text = `select p from generate_series(1, (select max(position) from log.events)) p
    where not exists (select from log.events e where e.position = p) limit 1`
  return (await client.query<{ p: string }>(text)).rows[0]!.p
}

/** Swaps a column of two events. */
export const swap = async (client: pg.Client, column: string, a: Event, b: Event) => {
  const at = (event: Event) => event[column as keyof Event]
  await run(client, `update log.events set ${column} = -7 where id = $1`, [a.id])
  await run(client, `update log.events set ${column} = $2 where id = $1`, [b.id, at(a)])
  await run(client, `update log.events set ${column} = $2 where id = $1`, [a.id, at(b)])
}

const edit =
  (set: string, where = PLAIN): Way =>
  async ({ client, event }) => {
    const { id } = await event(where)
    await run(client, `update log.events set ${set} where id = $1`, [id])
    return [id]
  }

const ofLeaf =
  (statement: string): Way =>
  async ({ client, event }) => {
    const { id } = await event(PLAIN)
    await run(client, statement, [id])
    return [id]
  }

const ofTree =
  (...statements: string[]): Way =>
  async ({ client, random }) => {
    const number = random(3)
    for (const statement of statements) await run(client, statement.replaceAll('$number', String(number)))
    return []
  }

const insertCopy =
  (columns: string) =>
  async ({ client, event }: Ways, id: string) => {
    const { id: of } = await event(PLAIN)
    await run(
      client,
      `insert into log.events (position, stream, revision, id, type, data, metadata)
     select $2, ${columns}, $3, type, data, metadata from log.events where id = $1`,
      [of, await freePosition(client), id || of],
    )
    return [id || of]
  }

const atEnd = 'stream, (select max(revision) + 1 from log.events o where o.stream = e.stream)'.replaceAll(
  'e.stream',
  'events.stream',
)

/** The ways to tamper with a log, its leaves, its tree and its checkpoint. */
export const ways: Readonly<Record<string, Way>> = {
  'changes data': edit(`data = replace(data::text, '"n":', '"n":1')::json`, `type = 'MessageAdded'`),
  'changes a byte of white space': edit(`data = (data::text || ' ')::json`),
  're-dates an event': edit(`metadata = replace(metadata::text, '"at":17', '"at":16')::json`),
  'changes who did it': edit(`metadata = replace(metadata::text, '"userId":"0', '"userId":"1')::json`),
  'changes the type': edit(`type = 'MessageUpdated'`, `type = 'MessageAdded'`),
  'moves an event to another stream': edit(
    `stream = 'trace-00000000-0000-0000-0000-000000000000', revision = position`,
  ),
  'gives an event another revision': edit('revision = 99000 + position'),
  'moves an event behind the end': edit('position = position + 100000'),
  'moves an event before the beginning': edit('position = -position'),
  'gives an event another id': async ({ client, event }) => {
    const { id } = await event(PLAIN)
    const other = 'ffffffff-ffff-7fff-bfff-ffffffffffff'
    await run(client, 'update log.events set id = $2 where id = $1', [id, other])
    return [id, other]
  },
  'drops an event': async ({ client, event }) => {
    const { id } = await event(`${PLAIN} and not exists (select from log.events d where d.stream = e.stream
      and d.type = 'TraceDeleted' and d.revision > e.revision)`)
    await run(client, 'delete from log.events where id = $1', [id])
    return [id]
  },
  'drops a part of a split append': async ({ client, event }) => {
    const { stream } = await event(`type = 'Small'`)
    const { rows } = await run(client, `delete from log.events where stream = $1 and type = 'Chunk' returning id`, [
      stream,
    ])
    // The first chunk of an event has its id; those of the others are derived from it.
    return rows.map(({ id }) => id as string).filter((id) => id[14] === '7')
  },
  'drops a whole stream': async ({ client, event }) => {
    const { stream } = await event(`type = 'MessageAdded' and stream like 'thing-%'`)
    return (await run(client, 'delete from log.events where stream = $1 returning id', [stream])).rows.map(
      ({ id }) => id,
    )
  },
  'drops the end of the log': async ({ client }) =>
    (
      await run(
        client,
        `delete from log.events where position in (select position from log.events where ${PLAIN} order by position desc limit 3) returning id`,
      )
    ).rows.map(({ id }) => id),
  'drops a deletion': async ({ client, event }) => {
    const { id } = await event(`type = 'TraceDeleted'`)
    await run(client, 'delete from log.events where id = $1', [id])
    return [id]
  },
  'inserts an event': (given) => insertCopy(atEnd)(given, 'eeeeeeee-eeee-7eee-beee-eeeeeeeeeeee'),
  'inserts an event again': (given) => insertCopy(atEnd)(given, ''),
  'inserts a stream': (given) => insertCopy(`'trace-new', 0`)(given, 'dddddddd-dddd-7ddd-bddd-dddddddddddd'),
  'swaps two events in the log': async ({ client, event }) => {
    const a = await event(PLAIN)
    const b = await event(`${PLAIN} and id <> '${a.id}'`)
    await swap(client, 'position', a, b)
    return [a.id, b.id]
  },
  'swaps two events in their stream': async ({ client, event }) => {
    const a = await event(`type = 'MessageAdded' and stream like 'many-%'`)
    const b = await event(`stream = '${a.stream}' and id <> '${a.id}'`)
    await swap(client, 'revision', a, b)
    return [a.id, b.id]
  },
  'swaps what two events say': async ({ client, event }) => {
    const a = await event(`type = 'MessageAdded'`)
    const b = await event(
      `type = 'MessageAdded' and data::text <> (select data::text from log.events where id = '${a.id}')`,
    )
    await run(client, 'update log.events set data = $2 where id = $1', [a.id, b.data])
    await run(client, 'update log.events set data = $2 where id = $1', [b.id, a.data])
    return [a.id, b.id]
  },
  'swaps two events in the log, and in the leaves where they lie': async ({ client, event }) => {
    const a = await event(PLAIN)
    const b = await event(
      `${PLAIN} and position > ${a.position} - 40 and position < ${a.position} + 40 and id <> '${a.id}'`,
    )
    await swap(client, 'position', a, b)
    for (const [event, position] of [
      [a, b.position],
      [b, a.position],
    ] as const)
      await run(client, 'update tracebook.leaves set position = $2 where event_id = $1', [event.id, position])
    return []
  },
  'changes an event and its leaf': async ({ client, event }) => {
    const found = await event(`type = 'MessageAdded'`)
    const changed = { ...found, data: '{"forged":true}' }
    await run(client, 'update log.events set data = $2 where id = $1', [found.id, changed.data])
    await run(client, 'update tracebook.leaves set hash = $2 where event_id = $1', [found.id, leafHashOf(changed)])
    return []
  },
  'drops an event and closes the gap in the leaves': async ({ client, event }) => {
    const { id } = await event(PLAIN)
    const { rows } = await run(client, 'delete from tracebook.leaves where event_id = $1 returning index', [id])
    await run(client, 'delete from log.events where id = $1', [id])
    await run(client, 'update tracebook.leaves set index = -index where index > $1', [rows[0].index])
    await run(client, 'update tracebook.leaves set index = -index - 1 where index < 0')
    await run(client, 'update tracebook.tree set size = size - 1')
    return []
  },
  'changes the hash of a leaf': ofLeaf(`update tracebook.leaves set hash = sha256('x') where event_id = $1`),
  'drops a leaf': ofLeaf('delete from tracebook.leaves where event_id = $1'),
  'gives a leaf another event': async ({ client, event }) => {
    const { id } = await event(PLAIN)
    await run(client, `update tracebook.leaves set event_id = gen_random_uuid() where event_id = $1`, [id])
    return [id]
  },
  'gives a leaf another position': ofLeaf('update tracebook.leaves set position = position + 1 where event_id = $1'),
  'gives a leaf another revision': ofLeaf('update tracebook.leaves set revision = revision + 1 where event_id = $1'),
  'gives a leaf another stream': ofLeaf(`update tracebook.leaves set stream = 'trace-x' where event_id = $1`),
  'says that an event was lost': ofLeaf('update tracebook.leaves set lost = gen_random_uuid() where event_id = $1'),
  'says that a dropped event was lost': async ({ client, event }) => {
    const { id } = await event(PLAIN)
    await run(client, 'delete from log.events where id = $1', [id])
    await run(client, 'update tracebook.leaves set lost = gen_random_uuid() where event_id = $1', [id])
    return [id]
  },
  'swaps two leaves': async ({ client, event }) => {
    const [a, b] = [await event(PLAIN), await event(PLAIN)]
    const index = async ({ id }: Event) =>
      (await run(client, 'select index from tracebook.leaves where event_id = $1', [id])).rows[0].index
    const [i, j] = [await index(a), await index(b)]
    if (i === j) return ways['drops a leaf']!({ client, event, random: () => 0 })
    await run(client, 'update tracebook.leaves set index = -7 where index = $1', [i])
    await run(client, 'update tracebook.leaves set index = $1 where index = $2', [i, j])
    await run(client, 'update tracebook.leaves set index = $1 where index = -7', [j])
    return []
  },
  'adds a leaf':
    ofTree(`insert into tracebook.leaves select index + 1, gen_random_uuid(), position + 1, stream, revision, hash
    from tracebook.leaves order by index desc limit 1`),
  'adds a leaf, and counts it': ofTree(
    `insert into tracebook.leaves select index + 1, gen_random_uuid(), position + 1, stream, revision, hash
     from tracebook.leaves order by index desc limit 1`,
    'update tracebook.tree set size = size + 1',
  ),
  'changes the hash of a tile': ofTree(
    `update tracebook.subtrees set hash = sha256('x') where level = 1 and index = $number`,
  ),
  'drops the hash of a tile': ofTree('delete from tracebook.subtrees where level = 1 and index = $number'),
  'adds the hash of a tile': ofTree(`insert into tracebook.subtrees values (2, $number, sha256('x'))`),
  'changes the root of a checkpoint': ofTree(`update tracebook.audit_keys set root = sha256('x')`),
  'changes the size of a checkpoint': ofTree('update tracebook.audit_keys set size = size - 1 - $number'),
  'changes the text of a checkpoint': ofTree(`update tracebook.audit_keys set note = replace(note, '/log', '/lag')`),
  'changes the signature of a checkpoint': ofTree(
    `update tracebook.audit_keys set note = overlay(note placing 'AAAA' from length(note) - 30)`,
  ),
  'drops the checkpoint': ofTree('delete from tracebook.audit_keys'),
  'says that the key is an older one': ofTree('update tracebook.audit_keys set number = number + 1 + $number'),
  'signs with another key': async ({ client }) => {
    const other = generateSigner('traces.example.com/log')
    const { rows } = await run(client, 'select size, root from tracebook.audit_keys')
    const note = signCheckpoint({ size: Number(rows[0].size), root: rows[0].root }, other)
    await run(client, 'update tracebook.audit_keys set key = $1, note = $2', [other.verifier.text, note])
    return []
  },
  'says that less is covered': ofTree(
    `update tracebook.processes set position = position - 5 - $number where name = 'proof'`,
  ),
  'says that more is covered': ofTree(
    `update tracebook.processes set position = position + 1 + $number where name = 'proof'`,
  ),
  'says that another event was covered last': ofTree(
    `update tracebook.processes set event_id = gen_random_uuid() where name = 'proof'`,
  ),
  'counts the leaves wrongly': ofTree('update tracebook.tree set size = size - 1 - $number'),
  'drops the count of leaves': ofTree('delete from tracebook.tree'),
}

/** The same choices for the same seed. */
export const newWays = (client: pg.Client, seed: number): Ways => {
  const random = newRandom(seed)
  const event = async (where = 'true') => {
    const text = `select position, stream, revision, id, type, data::text, metadata::text from log.events e where ${where} order by position`
    const { rows } = await client.query<Event>(text)
    return rows[random(rows.length)]!
  }
  return { client, random, event }
}
