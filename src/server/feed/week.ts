import type { ReadTables } from '../../tables/main.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import { STARTED, listedBy } from '../../tables/main.ts'
import { ofNamespace } from '../trace/lists.ts'
import { isRoot } from '../trace/sub-agents.ts'
import { whileMember } from './session-lists.ts'

const WEEK_MS = 7 * 86_400_000
/** At most so many sessions of a week are counted, sub-agents among them. */
const MOST_COUNTED = 5_000
const MOST_PEOPLE = 12

export const weekStatement = `
  select w.author, w.count, (select u.display_name from users u where u.id = w.author limit 1) as name from (
    select t.created_by as author, count(*)::int4 as count from (
      select * from traces where ${ofNamespace(listedBy.startedAt)} and ${STARTED} >= $2::float8
      order by ${STARTED} desc limit ${MOST_COUNTED}
    ) t where ${isRoot('t', 'member')} group by t.created_by
  ) w ${whileMember('$3')}
  order by w.count desc, w.author limit ${MOST_PEOPLE}`

/** A person with the number of sessions that they recorded. */
export type PersonOfWeek = { readonly id: string; readonly name: string | undefined; readonly count: number }

/** Who recorded sessions in a namespace in the seven days before `now`, for a member of it: those with the most first. */
export const peopleOfWeek = async (
  reads: Reads<ReadTables>,
  { namespaceId, member, now }: { readonly namespaceId: string; readonly member: string; readonly now: number },
): Promise<PersonOfWeek[]> => {
  const values = [namespaceId, now - WEEK_MS, member]
  const rows = await reads.rows<{ author: string; count: number; name: string | null } & Row>(
    'week',
    weekStatement,
    values,
  )
  return rows.map(({ author, count, name }) => ({
    id: author,
    name: name === null ? undefined : (JSON.parse(name) as string),
    count,
  }))
}
