import { type Kysely, sql } from 'kysely'

/** The log: a head row with the last position, the events, and the one function that appends events. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql`create schema log`.execute(db)

  await sql`create table log.head (one bool primary key default true check (one), position int8 not null)`.execute(db)
  await sql`alter table log.head set (fillfactor = 10)`.execute(db)
  await sql`insert into log.head (position) values (0)`.execute(db)

  // json, not jsonb: it keeps the exact text. External storage: compression would cost more time than the writing.
  await sql`
    create table log.events (
      position int8 primary key,
      stream text collate "C" not null,
      revision int8 not null,
      id uuid not null,
      type text collate "C" not null,
      data json not null,
      metadata json not null,
      bytes int4 not null
    )`.execute(db)
  await sql`alter table log.events alter data set storage external, alter metadata set storage external`.execute(db)
  await sql`create unique index events_of_stream on log.events (stream, revision)`.execute(db)

  // Lock, compare, insert. A function, because each of its statements then sees what was committed before it got the lock.
  // Appends come as arrays; events name their append by its number, from 1. A revision of -1 means a stream without events.
  await sql`
    create function log.append(
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
      select h.position into head from log.head h for update;
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
        update log.head set position = moved;
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
}
