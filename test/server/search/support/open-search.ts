import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import { mainGroup, searchGroup, timelineGroup } from '../../../../projections/index.ts'
import { searchDocs } from '../../../../projections/search/search.ts'
import type { SearchAnswer } from '../../../../src/contract/search.ts'
import { type Group, schemaOf } from '../../../../src/eventstore/engine/group.ts'
import { freshDatabase } from '../../../support/database.ts'
import { type App, type OpenOptions, openApp } from '../../../support/open-app.ts'

/** What a search answers. */
export const searchAs = async (app: App, token: string | undefined, query: string): Promise<SearchAnswer> => {
  const { status, data, error } = await app.call('GET', `/v1/search?${query}`, { token })
  assert.is(status, 200, `${query}: ${JSON.stringify(error)}`)
  return data as SearchAnswer
}

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
export const openSearch = async (test: { after(close: () => Promise<void>): void }, options: OpenOptions = {}) => {
  const database = await freshDatabase()
  const app = await openApp(database.url, { groups: [mainGroup, timelineGroup, smallSegments], ...options })
  test.after(async () => {
    await app.close()
    await database.drop()
  })
  const { data } = await app.call('POST', '/v1/session', { body: { deviceId: randomUUID() } })
  const { token } = (data as { session: { token: string } }).session

  const ask = async (method: 'PUT' | 'POST' | 'DELETE', path: string, body?: object) => {
    const { status, error } = await app.call(method, `/v1/traces/${path}`, { token, body })
    assert.ok(status < 300, `${method} ${path}: ${JSON.stringify(error)}`)
  }
  /** Writes messages, each a text of the user or a whole message. */
  const write = async (id: string, messages: readonly (string | object)[], fields: object = {}) => {
    await ask('PUT', id, fields)
    const whole = messages.map((one, i) => ({
      externalId: `m${i}`,
      ...(typeof one === 'string' ? { role: 'user', textContent: one } : one),
    }))
    for (let from = 0; from < whole.length; from += 200)
      await ask('POST', `${id}/messages/batch`, { messages: whole.slice(from, from + 200) })
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
  return { app, database, token, ask, write, search, find }
}
