import { onServer } from './database.ts'

const asRow = `
  select e.position, e.stream, e.revision, 1, array[e.id], json_build_array(json_build_array(1, e.type, e.metadata::text, null, '')),
    array[octet_length(e.data::text)], convert_to(e.data::text, 'UTF8')`

const columns = 'last, stream, revision, size, ids, heads, lengths, body'

/**
 * Gives each event of a log in PostgreSQL a row of its own, as in some converted or copied logs, and allows changes of
 * `log.events`, so that a test can tamper with single events.
 */
export const storeEventsSingly = async (url: string): Promise<void> => {
  await onServer(
    url,
    `create table log.copied as select * from log.events;
     delete from log.appends;
     insert into log.appends (${columns}) ${asRow} from log.copied e;
     drop table log.copied;
     create function log.change_event() returns trigger language plpgsql as $$
     begin
       if tg_op <> 'INSERT' then delete from log.appends where last = old.position; end if;
       if tg_op = 'DELETE' then return old; end if;
       insert into log.appends (${columns}) ${asRow.replaceAll('e.', 'new.')};
       return new;
     end $$;
     create trigger change_event instead of insert or update or delete on log.events for each row
     execute function log.change_event();`,
  )
}
