import { type Kysely, sql } from 'kysely'

/**
 * Appends no longer update a head row: while a backup holds a snapshot, dead versions of the row cannot be removed, and each
 * append would read all of them. Writers take turns by an advisory lock, and the last position is that of the last
 * event: it never decreases, because erasure keeps the last event of each stream. The log also gets an identity.
 */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  // The lock keeps processes from appending while the function changes. Processes of an older version read the view.
  await sql`lock table log.head in access exclusive mode`.execute(db)
  await sql`drop table log.head`.execute(db)
  await sql`
    create view log.head as select true as one, coalesce(max(position), 0) as position from log.events`.execute(db)

  // Lock, compare, insert. A function, because each of its statements then sees what was committed before it got the lock.
  // Appends come as arrays; events name their append by its number, from 1. A revision of -1 means a stream without events.
  await sql`
    create or replace function log.append(
      streams text[], expecteds int8[], sizes int4[],
      appends int4[], ids uuid[], types text[], data json[], metadata json[], bytes int4[]
    ) returns table (stored bool, fresh bool, revision int8, at int8) language plpgsql as $$
    declare
      head int8;
      actuals int8[];
      bases int8[] := array_fill(null::int8, array[cardinality(streams)]);
      first int4 := 1;
      firsts int4[] := array_fill(0, array[cardinality(streams)]);
      moved int8;
    begin
      perform pg_advisory_xact_lock(hashtext('tracebook log append'));
      select coalesce(max(e.position), 0) into head from log.events e;
      select array_agg(coalesce(last.revision, -1) order by a.number) into actuals
      from unnest(streams) with ordinality a(stream, number)
      left join lateral (
        select e.revision from log.events e where e.stream = a.stream collate "C" order by e.revision desc limit 1
      ) last on true;

      moved := head;
      for i in 1 .. cardinality(streams) loop
        firsts[i] := first;
        if actuals[i] = expecteds[i] then
          bases[i] := moved;
          moved := moved + sizes[i];
        end if;
        first := first + sizes[i];
      end loop;

      if moved > head then
        insert into log.events (position, stream, revision, id, type, data, metadata, bytes)
        select bases[e.append] + e.number - firsts[e.append] + 1, streams[e.append],
          expecteds[e.append] + e.number - firsts[e.append] + 1, e.id, e.type, e.data, e.metadata, e.bytes
        from unnest(appends, ids, types, data, metadata, bytes)
          with ordinality e(append, id, type, data, metadata, bytes, number)
        where bases[e.append] is not null;
      end if;

      for i in 1 .. cardinality(streams) loop
        fresh := bases[i] is not null;
        if fresh then
          stored := true; revision := expecteds[i] + sizes[i]; at := bases[i] + sizes[i];
        else
          -- A retry finds its own last event where it wanted to end, and gets the answer that was lost. Its first one
          -- must be its own too, as far as it has not been truncated.
          select e.position into at from log.events e
          where e.stream = streams[i] and e.revision = expecteds[i] + sizes[i] and e.id = ids[firsts[i] + sizes[i] - 1]
            and not exists (select from log.events f where f.stream = e.stream
              and f.revision = expecteds[i] + 1 and f.id <> ids[firsts[i]]);
          stored := found; revision := case when found then expecteds[i] + sizes[i] else actuals[i] end;
        end if;
        return next;
      end loop;
    end $$`.execute(db)

  // The id of the log, the epoch, which changes whenever the log may have lost its end, and the server and timeline on which
  // the epoch began: null until a process has first connected.
  await sql`
    create table log.identity (
      one bool primary key default true check (one), id uuid not null, epoch uuid not null, server text
    )`.execute(db)
  await sql`insert into log.identity (id, epoch) values (gen_random_uuid(), gen_random_uuid())`.execute(db)

  // The id of the log that the read models and processes in this database follow.
  await sql`create table tracebook.followed_log (one bool primary key default true check (one), id uuid not null)`.execute(
    db,
  )

  // Unlogged, so it is empty after a crash of PostgreSQL, which may have undone the last transactions of the read models.
  await sql`create unlogged table tracebook.incarnation (one bool primary key default true check (one), id uuid not null)`.execute(
    db,
  )
}
