import type { FastifyInstance } from 'fastify'
import type { ReadTables } from '../../tables/main.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import { type TopicCache, newTopicCache } from '../../eventstore/engine/topic-cache.ts'
import { wantsPage } from '../pages/page.ts'
import type { Person } from '../pages/viewer.ts'

/** What the bar of every page shows of a user, by their id. A user's memberships and name have the topic of the user, so an entry is never stale. */
export type People = TopicCache<Person>

/** More namespaces than that are found on the first page. */
const MOST_SLUGS = 30
const MOST_KEPT_SLUGS = 50_000
const REMEMBERED_CHANGES = 1_000

export const newPeople = (isCurrent: () => boolean): People =>
  newTopicCache({
    sizeOf: ({ slugs }: Person) => 1 + slugs.length,
    maxSize: MOST_KEPT_SLUGS,
    isCurrent,
    remembered: REMEMBERED_CHANGES,
  })

const personStatement = `
  select c.position, u.display_name, array(
    select n.slug from members m join namespaces n on n.id = m.namespace_id where m.user_id = $1
    order by n.type <> 'individual', m.joined_at, n.id limit ${MOST_SLUGS}
  ) as slugs
  from reached c left join users u on u.id = $1`

type PersonRow = { readonly position: bigint; readonly display_name: string | null; readonly slugs: string[] }

type PeopleServices = { readonly reads: Pick<Reads<ReadTables>, 'rows'>; readonly people: People }

const personOf = ({ reads, people }: PeopleServices, userId: string): Promise<Person> =>
  people.load(userId, async () => {
    const [row] = await reads.rows<PersonRow & Row>('person', personStatement, [userId])
    const { position, display_name: name, slugs } = row!
    const displayName = name === null ? undefined : (JSON.parse(name) as string)
    return { value: { displayName, slugs }, topics: new Set([userId]), position }
  })

/** Looks up who views a page, for its bar. Comes after authentication. */
export const installPeople = (app: FastifyInstance, services: PeopleServices): void => {
  app.decorateRequest('person', undefined)
  app.addHook('onRequest', (request, _reply, done) => {
    const { caller, routeOptions } = request
    if (!caller || !(routeOptions.config.htmlPage || wantsPage(request))) return done()
    request.person = services.people.get(caller.userId)
    if (request.person) return done()
    personOf(services, caller.userId).then((person) => {
      request.person = person
      done()
    }, done)
  })
}
