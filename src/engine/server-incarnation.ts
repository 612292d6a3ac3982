import type pg from 'pg'

const select = 'select id from tracebook.incarnation'
const insert = 'insert into tracebook.incarnation (id) values (gen_random_uuid()) on conflict do nothing'

/**
 * A UUID that changes when the PostgreSQL server recovers from a crash or fails over, which may undo the last transactions
 * of the read models; a clean restart keeps it. It is stored in an unlogged table, which crash recovery empties.
 */
export const readServerIncarnation = async (client: Pick<pg.ClientBase, 'query'>): Promise<string> => {
  for (;;) {
    const { rows } = await client.query<{ id: string }>(select)
    if (rows[0]) return rows[0].id
    await client.query(insert)
  }
}
