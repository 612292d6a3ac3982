import { type Kysely, sql } from 'kysely'

/**
 * The log has a row for each append in the place of one for each event: fewer rows, index entries and values to insert, and what
 * the events of an append have in common is stored once. `log.events` becomes a view, for people. The events that there are
 * already move at the next start (`src/log/postgres/convert.ts`); until then the view has another name.
 */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql`lock table log.events in access exclusive mode`.execute(db)
  await sql`drop view log.head`.execute(db)
  await sql`alter table log.events rename to unconverted_events`.execute(db)

  // A row has events of one append, which follow each other in the log and in their stream. `last` and `revision` are those of the
  // last one. `heads` are runs of events that differ in the number of their metadata only: [how many, type, before, number of
  // the first, after]; the metadata are before || number || after, or `before` alone where the number is null. `data` are the
  // JSON texts one behind the other, `lengths` their bytes.
  await sql`
    create table log.appends (
      last int8 primary key,
      stream text collate "C" not null,
      revision int8 not null,
      size int4 not null check (size > 0),
      ids uuid[] not null check (cardinality(ids) = size),
      heads json not null,
      lengths int4[] not null check (cardinality(lengths) = size),
      data bytea not null
    )`.execute(db)
  // External storage: compression would cost more time than the writing. No statistics: they would keep samples of what is erased.
  await sql`
    alter table log.appends alter ids set storage external, alter lengths set storage external, alter data set storage external, alter data set statistics 0`.execute(
    db,
  )
  await sql`create unique index appends_of_stream on log.appends (stream, revision)`.execute(db)
  await sql`
    alter table log.appends set (
      autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
      toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 1000
    )`.execute(db)

  // An older version that is running still is told to wait, and answers its clients that the log cannot be written to.
  await sql`drop function log.append`.execute(db)
  await sql`
    create function log.append(text[], int8[], int4[], int4[], uuid[], text[], json[], json[], int4[])
    returns table (stored bool, fresh bool, revision int8, at int8) language plpgsql as $$
    begin
      raise exception 'the log is stored as version 0010_appends has it: update this node' using errcode = 'object_not_in_prerequisite_state';
    end $$`.execute(db)

  // Lock, compare, insert. A function, because each of its statements then sees what was committed before it got the lock.
  // An append has a stream, the revision expected of it (-1 for a stream without events), and the number of its events. A row
  // has the number of its append, from 1, the number of its events and of those of the append up to its end, and the place of
  // its first one among all \`ids\` and \`lengths\`, from 1.
  await sql`
    create function log.append_rows(
      streams text[], expecteds int8[], sizes int4[],
      appends int4[], counts int4[], ends int4[], starts int4[], heads json[], ids uuid[], lengths int4[], data bytea[]
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
        insert into log.appends (last, stream, revision, size, ids, heads, lengths, data)
        select bases[r.append] + r.ending, streams[r.append], expecteds[r.append] + r.ending, r.count,
          append_rows.ids[r.start : r.start + r.count - 1], r.heads, append_rows.lengths[r.start : r.start + r.count - 1], r.data
        from unnest(appends, counts, ends, starts, heads, data) r (append, count, ending, start, heads, data)
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

  // For people who look into the log: the service reads the table.
  await sql`
    create view log.converted_events as
    select a.last - a.size + e.number as position, a.stream, a.revision - a.size + e.number as revision, e.id, h.head ->> 1 as type,
      convert_from(substring(a.data from e.ends - e.length + 1 for e.length), 'UTF8')::json as data,
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

  const { rows } = await sql<{ found: boolean }>`
    select exists (select from log.unconverted_events) as found`.execute(db)
  if (rows[0]!.found) return
  await sql`drop table log.unconverted_events`.execute(db)
  await sql`alter view log.converted_events rename to events`.execute(db)
}
