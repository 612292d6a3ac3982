import { mainGroup, searchGroup, timelineGroup } from '../../../../projections/index.ts'
import { searchDocs } from '../../../../projections/search/search.ts'
import type { SearchAnswer } from '../../../../src/contract/search.ts'
import { type Group, schemaOf } from '../../../../src/eventstore/engine/group.ts'
import type { App, OpenOptions } from '../../../support/open-app.ts'
import { type Suite, callerOf, openWorld, signIn } from '../../../support/world.ts'

/** What a search answers. */
export const searchAs = (app: App, token: string | undefined, query: string): Promise<SearchAnswer> =>
  callerOf(app, token).send('GET', `/v1/search?${query}`)

/** Resolves when everything that was written before can be found. */
export const indexed = async ({ service }: App): Promise<void> => {
  const position = await service.log.head()
  for (;;) {
    const [row] = await service.searches.snapshot((rows) =>
      rows<{ position: bigint; waits: boolean }>(
        '',
        'select position, exists (select from search_backlog) as waits from reached',
      ),
    )
    if (row!.position >= position && !row!.waits) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

export const SEGMENT_ROWS = 20
/** The index with segments of few rows, so that queries read both segments with an index of hashes and the newest, which has none. */
export const smallSegments: Group = { ...searchGroup, projections: [searchDocs(schemaOf(mainGroup), SEGMENT_ROWS)] }

/** A service on a database of its own, with a user who writes and searches there. */
export const openSearch = async (test: Suite, options: OpenOptions = {}) => {
  const {
    database,
    node: app,
    openNode,
  } = await openWorld(test, { groups: [mainGroup, timelineGroup, smallSegments], ...options })
  const { token, send, newTrace } = await signIn(app)

  /** Writes messages, each a text of the user or a whole message. */
  const write = async (id: string, messages: readonly (string | object)[], fields: object = {}) => {
    const whole = messages.map((one, i) => ({
      externalId: `m${i}`,
      ...(typeof one === 'string' ? { role: 'user', textContent: one } : one),
    }))
    await newTrace(fields, whole, id)
  }
  const search = (query: string) => searchAs(app, token, query)
  /** The ids of the traces that are found, in the order of the answers, once everything can be found. On a busy machine a page ends early. */
  const find = async (q: string, more = '') => {
    await indexed(app)
    const found: string[] = []
    for (let cursor = ''; ;) {
      const { results, nextCursor } = await search(`q=${encodeURIComponent(q)}${more}${cursor}`)
      found.push(...results.map(({ trace }) => trace.externalId))
      if (nextCursor === undefined) return found
      cursor = `&cursor=${nextCursor}`
    }
  }
  return { app, database, openNode, token, send, write, search, find }
}
