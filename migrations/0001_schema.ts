import { type Kysely, sql } from 'kysely'

/** Sends statements one after the other. */
const all = async (db: Kysely<unknown>, statements: readonly string[]): Promise<void> => {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

/**
 * A row of the log has events of one append, which follow each other in the log and in their stream. `last` and `revision` are those of
 * the last one. `heads` are runs of events that differ in the number of their metadata only: [how many, type, before, number of the first,
 * after]; the metadata are before || number || after, or `before` alone where the number is null. `body` are the JSON texts of the events one
 * behind the other, `lengths` their bytes: as they are if `bytes` is null, otherwise compressed to one frame of zstd, and `bytes` is their size before
 * that (`src/eventstore/log/postgres/body.ts`).
 *
 * External storage: compression would cost more time than the writing. No statistics: they would keep samples of what is erased. By default a
 * table is vacuumed once a fifth of its rows is dead: in a large log that is erased content of years. Frequent vacuums are cheap: they skip
 * pages without dead rows, and the indexes while few pages have any.
 */
const appends = [
  `create table log.appends (
    last int8 primary key,
    stream text collate "C" not null,
    revision int8 not null,
    size int4 not null check (size > 0),
    ids uuid[] not null check (cardinality(ids) = size),
    heads json not null,
    lengths int4[] not null check (cardinality(lengths) = size),
    body bytea not null,
    bytes int4 check (bytes > 0)
  ) with (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 1000
  )`,
  `alter table log.appends alter ids set storage external, alter lengths set storage external, alter body set storage external,
    alter body set statistics 0`,
  'create unique index appends_of_stream on log.appends (stream, revision)',
]

/**
 * Lock, compare, insert: the only statement that appends. It is a function, because each of its statements then sees what was committed before it got
 * the lock. Writers take turns by an advisory lock, and the last position is that of the last event: it never decreases, because erasure
 * keeps the last event of each stream. (While a backup holds a snapshot, a row with the last position would get a dead version with each append.)
 *
 * An append has a stream, the revision expected of it (-1 for a stream without events), and the number of its events. A row has the number of
 * its append, from 1, the number of its events and of those of the append up to its end, the place of its first one among all `ids` and
 * `lengths`, from 1, and its bytes, null if it is not compressed.
 */
const appendRows = `
  create function log.append_rows(
    streams text[], expecteds int8[], sizes int4[], appends int4[], counts int4[], ends int4[], starts int4[], heads json[],
    ids uuid[], lengths int4[], bytes int4[], bodies bytea[]
  ) returns table (stored bool, fresh bool, revision int8, at int8) language plpgsql as $$
  declare
    head int8;
    actuals int8[];
    bases int8[] := array_fill(null::int8, array[cardinality(streams)]);
    first int4 := 1;
    moved int8;
    wanted int8;
    first_id uuid;
    last_id uuid;
  begin
    perform pg_advisory_xact_lock(hashtext('tracebook log append'));
    select coalesce(max(a.last), 0) into head from log.appends a;
    select array_agg(coalesce(last.revision, -1) order by s.number) into actuals
    from unnest(streams) with ordinality s(stream, number)
    left join lateral (
      select a.revision from log.appends a where a.stream = s.stream collate "C" order by a.revision desc limit 1
    ) last on true;

    moved := head;
    for i in 1 .. cardinality(streams) loop
      if actuals[i] = expecteds[i] then
        bases[i] := moved;
        moved := moved + sizes[i];
      end if;
    end loop;

    if moved > head then
      insert into log.appends (last, stream, revision, size, ids, heads, lengths, bytes, body)
      select bases[r.append] + r.ending, streams[r.append], expecteds[r.append] + r.ending, r.count,
        append_rows.ids[r.start : r.start + r.count - 1], r.heads, append_rows.lengths[r.start : r.start + r.count - 1], r.bytes, r.body
      from unnest(appends, counts, ends, starts, heads, bytes, bodies) r (append, count, ending, start, heads, bytes, body)
      where bases[r.append] is not null;
    end if;

    for i in 1 .. cardinality(streams) loop
      fresh := bases[i] is not null;
      if fresh then
        stored := true; revision := expecteds[i] + sizes[i]; at := bases[i] + sizes[i];
      else
        -- A retry finds its own last event where it wanted to end, and gets the answer that was lost. Its first one
        -- must be its own too, as far as it has not been truncated.
        wanted := expecteds[i] + sizes[i];
        select a.last - a.revision + wanted, a.ids[wanted - a.revision + a.size] into at, last_id from log.appends a
        where a.stream = streams[i] and a.revision >= wanted order by a.revision limit 1;
        select a.ids[expecteds[i] + 1 - a.revision + a.size] into first_id from log.appends a
        where a.stream = streams[i] and a.revision > expecteds[i] order by a.revision limit 1;
        stored := coalesce(last_id = append_rows.ids[first + sizes[i] - 1], false) and coalesce(first_id = append_rows.ids[first], true);
        revision := case when stored then wanted else actuals[i] end;
      end if;
      first := first + sizes[i];
      return next;
    end loop;
  end $$`

/** For people who look into the log, and see no data of what is compressed: the service reads the table. */
const events = `
  create view log.events as
  select a.last - a.size + e.number as position, a.stream, a.revision - a.size + e.number as revision, e.id, h.head ->> 1 as type,
    case when a.bytes is null then convert_from(substring(a.body from e.ends - e.length + 1 for e.length), 'UTF8')::json end as data,
    concat(h.head ->> 2, (h.head ->> 3)::int8 + e.number - h.first, h.head ->> 4)::json as metadata
  from log.appends a
  cross join lateral (
    select u.*, (sum(u.length) over (order by u.number))::int4 as ends
    from unnest(a.ids, a.lengths) with ordinality u (id, length, number)
  ) e
  cross join lateral (
    select r.head, sum((r.head ->> 0)::int4) over (order by r.number) - (r.head ->> 0)::int4 + 1 as first, (r.head ->> 0)::int4 as count
    from json_array_elements(a.heads) with ordinality r (head, number)
  ) h
  where e.number >= h.first and e.number < h.first + h.count`

/**
 * The id of the log, and the epoch, which changes whenever the log may have lost its end. `server` is the server and timeline on which the epoch
 * began: null until a process has first connected.
 */
const identity = [
  `create table log.identity (
    one bool primary key default true check (one), id uuid not null, epoch uuid not null, server text
  )`,
  'insert into log.identity (id, epoch) values (gen_random_uuid(), gen_random_uuid())',
]

/** What processes know: operational data, which no rebuild of the read models touches. */
const processes = [
  // A few rows, each updated several times a second. `epoch` is the log's when the checkpoint last moved, `event_position` and
  // `event_id` are the last event before it: null until it moves.
  `create table tracebook.processes (
    name text primary key, position int8 not null, epoch uuid, event_position int8, event_id uuid
  ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0)`,

  // The id of the log that the read models and processes in this database follow.
  'create table tracebook.followed_log (one bool primary key default true check (one), id uuid not null)',

  // A queue that is nearly always empty and read from the front: without vacuums reads would find dead rows only. `event_id` is
  // that of the deletion, `reason` says why a stream could not be erased yet.
  `create table tracebook.erasures (
    stream text primary key, before_revision int8 not null, position int8 not null, requested_at int8 not null, event_id uuid not null,
    attempts int4 not null default 0, reason text, next_at timestamptz not null default '-infinity'
  ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100, autovacuum_vacuum_cost_delay = 0)`,

  // The traces that retention is about to delete.
  `create table tracebook.expiring_traces (
    namespace_id uuid not null, trace_id uuid not null, primary key (namespace_id, trace_id)
  )`,

  // The state of the summary process for each trace: counts, no content. `since` and `run_at` (milliseconds) are set while a timer runs.
  // Few traces are busy at a time.
  `create table tracebook.summaries (
    trace_id uuid primary key, incarnation int8 not null, message_count int8 not null, summarised int8, since int8, run_at int8
  ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,

  // The row exists while the summary process folds the log up to the position `until`, and then gives jobs to the traces that
  // are due, in the order of their ids: those up to `reached` have theirs.
  `create table tracebook.summary_fold (
    one bool primary key default true check (one), until int8 not null,
    reached uuid not null default '00000000-0000-0000-0000-000000000000'
  )`,

  // `next_at` (milliseconds) is when the source is to be read again: the process that moves it reads.
  `create table tracebook.catalogues (
    source text collate "C" primary key, etag text, next_at int8 not null, refreshed_at int8
  )`,
]

/** What is known of people besides events. Operational data as well. */
const people = [
  // When a session was last used (milliseconds), written with a delay. The number of dead rows depends on use, not on that of sessions.
  `create table tracebook.session_uses (session_id uuid primary key, last_used_at int8 not null)
  with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500)`,

  // Counters of rate limits. Not int8: the limiter needs numbers, and the driver returns int8 as bigint. Unlogged: a crash may lose
  // the counts. Updated with every request, emptied every few minutes: small, so it is vacuumed without pauses.
  `create unlogged table tracebook.rate_limits (key text primary key, points int4 not null, expire float8)
  with (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0
  )`,

  // Handshakes of sign-ins.
  `create table tracebook.handshakes (
    state_hash text primary key, salt text not null, wish json not null, expires int8 not null,
    claimed_at int8, exchange_hash text, identity json
  )`,
  'create index handshakes_expires on tracebook.handshakes (expires)',

  `create table tracebook.avatars (
    namespace_id uuid not null, storage_id text not null, type text not null, bytes bytea not null, put_at int8 not null,
    primary key (namespace_id, storage_id)
  )`,
]

/**
 * The Merkle tree over the log: a leaf for each event, the roots of full tiles, and the checkpoints that were signed. Never
 * made anew and never changed: published checkpoints stand for these hashes.
 */
const proof = [
  // Leaves in log order. Position and revision are those of the log that is followed; `lost` is the epoch in which the log no
  // longer held the event. No index on streams: they are looked for in a check only.
  `create table tracebook.leaves (
    index int8 primary key, event_id uuid not null, position int8 not null, stream text collate "C" not null,
    revision int8 not null, hash bytea not null, lost uuid
  )`,
  'alter table tracebook.leaves alter hash set storage plain, alter stream set storage plain',
  'create index leaves_event on tracebook.leaves (event_id)',

  // Level 1 has the root of each 256 leaves, level 2 that of each 256 hashes of level 1, and so on.
  `create table tracebook.subtrees (
    level int2 not null, index int8 not null, hash bytea not null, primary key (level, index)
  )`,

  // `log` is the id of the log that the positions belong to. While leaves are matched with a log anew: how many there were,
  // up to which position, and the last leaf that has been found. `refused` says why the tree is not continued.
  `create table tracebook.tree (
    one bool primary key default true check (one), size int8 not null, log uuid, walk_size int8, walk_until int8,
    walk_matched int8, refused text
  ) with (
    fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200,
    autovacuum_vacuum_cost_delay = 0
  )`,
  'insert into tracebook.tree (size) values (0)',

  // A row for each time that a key came into use, with the last checkpoint that it signed. `retired`: no key is in use.
  `create table tracebook.audit_keys (
    number int4 primary key, key text not null, from_size int8 not null, size int8 not null, root bytea not null,
    note text not null, signed_at int8 not null, retired bool not null default false
  ) with (fillfactor = 50)`,
]

/** The key of the hashes that the search index has instead of words: random bits of two UUIDs, 244 of them. */
const search = [
  'create table tracebook.search_key (one bool primary key default true check (one), key bytea not null)',
  'insert into tracebook.search_key (key) values (uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))',
]

/** The key of each namespace for the hashes of lines, made when it is first needed. */
const attribution = ['create table tracebook.attribution_keys (namespace_id uuid primary key, secret bytea not null)']

/** The log, and the operational data: what is stored besides the read models, which make their own schemas. */
export const up = (db: Kysely<unknown>): Promise<void> =>
  all(db, [
    'create schema log',
    ...appends,
    appendRows,
    events,
    ...identity,
    'create schema if not exists tracebook',
    ...processes,
    ...people,
    ...proof,
    ...search,
    ...attribution,
  ])
