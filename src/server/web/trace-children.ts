import type { ReadTables } from '../../tables/main.ts'
import { keyHash } from '../../base/ids.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import type { LinkedTrace } from '../http/long-list.ts'
import type { ModelRegistry } from '../models/registry.ts'
import { readChildren } from '../pages/trace-links.ts'
import { childrenStatement } from '../trace/children-route.ts'
import { rowWithModelName } from '../trace/model-names.ts'
import { FAR_FUTURE, type StoredDetail } from '../trace/queries.ts'
import type { ListedRow } from '../trace/rows.ts'
import { summaryText } from '../trace/views.ts'
import type { Child } from '../../transcript/html/links.ts'

/** The most sub-agents that a page links to. */
const MOST_CHILDREN = 100

export type Children = {
  /** The sub-agents, the newest first. */
  readonly all: readonly Child[]
  readonly linked: readonly LinkedTrace[]
  /** The JSON texts of the sub-agents. A cached page depends on them. */
  readonly texts: readonly string[]
}

/** The traces of the sub-agents that a trace started, as far as the reader may read them. */
export const childrenOf = async (
  { reads, models }: { readonly reads: Reads<ReadTables>; readonly models: ModelRegistry },
  { namespace_id, external_id, slug }: StoredDetail,
  isMember: boolean,
): Promise<Children> => {
  const values = [namespace_id, keyHash(external_id), FAR_FUTURE.createdAt, FAR_FUTURE.id, MOST_CHILDREN]
  const name = `traces-children${isMember ? '' : '-public'}`
  const rows = await reads.rows<ListedRow & Row>(name, childrenStatement(!isMember), values)
  const shown = rows.filter(({ id }) => reads.isNotQuarantined(`trace-${id}`))
  const texts = shown.map((row) => summaryText(rowWithModelName(models, row)))
  const linked = shown.map(({ id, created_at }) => ({ id, createdAt: created_at }))
  return { all: readChildren(slug ?? '', texts).all, linked, texts }
}
