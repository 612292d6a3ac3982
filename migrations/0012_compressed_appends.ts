import { type Kysely, sql } from 'kysely'

/**
 * The data of large rows of the log are compressed by the service (`src/log/postgres/body.ts`). The column gets another name, and the function
 * other parameters, so that an older version that is running still fails with each statement: it would read and cut bytes as texts.
 */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  // `body` are the texts of the events one behind the other: as they are if `bytes` is null, otherwise compressed to one frame of zstd, and
  // `bytes` is their size before that.
  await sql`drop view if exists log.events, log.converted_events`.execute(db)
  await sql`alter table log.appends rename column data to body`.execute(db)
  await sql`alter table log.appends add column bytes int4 check (bytes > 0)`.execute(db)

  await sql`drop function log.append_rows`.execute(db)
  await sql`
    create function log.append_rows(text[], int8[], int4[], int4[], int4[], int4[], int4[], json[], uuid[], int4[], bytea[])
    returns table (stored bool, fresh bool, revision int8, at int8) language plpgsql as $$
    begin
      raise exception 'the log is stored as version 0012_compressed_appends has it: update this node' using errcode = 'object_not_in_prerequisite_state';
    end $$`.execute(db)

  // As in 0010_appends, with the bytes of each row; null if it is not compressed.
  await sql`
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
    end $$`.execute(db)

  // For people, who see no data of what is compressed. Until the events of an older version are converted it has another name.
  const { rows } = await sql<{ name: string }>`
    select case when to_regclass('log.unconverted_events') is null then 'events' else 'converted_events' end as name`.execute(
    db,
  )
  await sql`
    create view ${sql.id('log', rows[0]!.name)} as
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
    where e.number >= h.first and e.number < h.first + h.count`.execute(db)
}
