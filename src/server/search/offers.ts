import type { Caller } from '../http/caller.ts'
import { type Looser, looserThan } from './looser.ts'
import { type SearchServices, search } from './search.ts'

/** A looser query that finds something, and in how many sessions; in at least so many if they were not all looked at. */
export type Offer = Looser & { readonly sessions: number; readonly isExact: boolean }

/** After this time no further query is tried. Each takes as long as a search may, which is bounded (`window.ts`). */
const MOST_MS = 400
const MOST_OFFERS = 5

type Asked = { readonly q: string; readonly tz: string | undefined }

/**
 * What a query that finds nothing could be changed to, so that it finds something that the caller may read. Each is tried by the search itself, one after the other, so that
 * a search that fails takes no more connections than another one.
 */
export const offersFor = async (
  services: SearchServices,
  { q, tz }: Asked,
  caller: Pick<Caller, 'userId'> | undefined,
): Promise<Offer[]> => {
  const started = performance.now()
  const offers: Offer[] = []
  for (const looser of looserThan(q)) {
    if (offers.length === MOST_OFFERS || performance.now() - started > MOST_MS) break
    // Any of the words would find what some of them do.
    if (looser.how === 'any word' && offers.length > 0) break
    const { results, total } = await search(services, { q: looser.q, tz, limit: 1 }, caller)
    if (results.length > 0) offers.push({ ...looser, sessions: total.value, isExact: total.exact })
  }
  return offers
}
