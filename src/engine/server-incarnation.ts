import type pg from 'pg'

const select = 'select id from tracebook.incarnation'
const insert = 'insert into tracebook.incarnation (id) values (gen_random_uuid()) on conflict do nothing'

/**
 * Which life of the server this is: another one after a crash or a failover, which may have taken the last transactions of
 * the read models along, not after a restart that lost nothing. The mark lies in an unlogged table, which recovery empties.
 */
export const readServerIncarnation = async (client: Pick<pg.ClientBase, 'query'>): Promise<string> => {
  for (;;) {
    const { rows } = await client.query<{ id: string }>(select)
    if (rows[0]) return rows[0].id
    await client.query(insert)
  }
}
