import type { ListedTrace, PageQuery, TracePage } from '../../sync/api/traces.ts'

export type ReadPage = (page: PageQuery) => Promise<TracePage>

/** The pages of a list of traces, each asked for when the one before was used. */
export async function* tracePages(read: ReadPage, limit: number): AsyncGenerator<readonly ListedTrace[], void> {
  let cursor: string | undefined
  do {
    const { traces, nextCursor } = await read({ limit, ...(cursor === undefined ? {} : { cursor }) })
    yield traces
    cursor = nextCursor
  } while (cursor !== undefined)
}
