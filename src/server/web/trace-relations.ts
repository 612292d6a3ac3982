import type { ReadTables } from '../../tables/main.ts'
import { keyHash, traceId } from '../../base/ids.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import type { LinkedTrace } from '../http/long-list.ts'
import type { ModelRegistry } from '../models/registry.ts'
import { childIn } from '../pages/trace-links.ts'
import { agentName } from '../../transcript/agent-names.ts'
import { childrenStatement } from '../trace/children-route.ts'
import { shownRow } from '../trace/model-names.ts'
import { FAR_FUTURE, type StoredDetail, summaryColumns, summaryTables } from '../trace/queries.ts'
import type { ListedRow } from '../trace/rows.ts'
import { summaryText } from '../trace/views.ts'
import type { Child } from '../../transcript/html/links.ts'

/** The most sub-agents and continuations that a page links to. */
const MOST_CHILDREN = 100

/** The traces that a page links to, as far as the reader may read them. */
export type Relations = {
  /** The sub-agents, as JSON texts, the newest first. */
  readonly children: readonly string[]
  /** The sessions in which this conversation goes on, in the same form. */
  readonly continuations: readonly string[]
  /** The session that this one comes from. */
  readonly origin: Origin | undefined
  readonly linked: readonly LinkedTrace[]
  /** The JSON texts of all of them. A cached page depends on them. */
  readonly texts: readonly string[]
}

/** The session that another one continues, or by which it was started as a sub-agent; `agent` is the name of its agent, if that is known. */
export type Origin = Pick<Child, 'path' | 'title'> & {
  readonly isContinued: boolean
  readonly agent: string | undefined
}

const originStatement = `
  select ${summaryColumns} from (select id from traces where id = $1 and ($2 or visibility = 'public')) f ${summaryTables}`

/** Whether a trace was started by a call of another one, also of one that is not there. */
export const isOfAgent = ({
  external_id,
  parent_external_id: parent,
  parent_kind,
}: Pick<StoredDetail, 'external_id' | 'parent_external_id' | 'parent_kind'>): boolean =>
  parent !== null && JSON.parse(parent) !== external_id && !isContinuation(parent_kind)

const isContinuation = (kind: string | null) => kind !== null && JSON.parse(kind) !== 'call'

type Readers = { readonly reads: Reads<ReadTables>; readonly models: ModelRegistry }

export const relationsOf = async (
  { reads, models }: Readers,
  trace: StoredDetail,
  isMember: boolean,
): Promise<Relations> => {
  const { namespace_id, external_id, parent_external_id, parent_kind } = trace
  const slug = trace.slug ?? ''
  const isShown = ({ id }: ListedRow) => id !== trace.id && reads.isNotQuarantined(`trace-${id}`)
  const values = [namespace_id, keyHash(external_id), FAR_FUTURE.createdAt, FAR_FUTURE.id, MOST_CHILDREN]
  const name = `traces-children${isMember ? '' : '-public'}`
  const parent = parent_external_id === null ? undefined : (JSON.parse(parent_external_id) as string)
  const [known, below, above] = await Promise.all([
    models.known(),
    reads.rows<ListedRow & Row>(name, childrenStatement(!isMember), values),
    parent === undefined
      ? []
      : reads.rows<ListedRow & Row>('trace-origin', originStatement, [traceId(namespace_id, parent), isMember]),
  ])
  const textOf = (row: ListedRow) => summaryText(shownRow(known, row))
  const [children, origins] = [below.filter(isShown), above.filter(isShown)]
  const kinds = Map.groupBy(children, (row) => isContinuation(row.parent_kind))
  const [originRow] = origins
  const originText = originRow && textOf(originRow)
  const linked = [...children, ...origins].map(({ id, created_at }) => ({ id, createdAt: created_at }))
  const texts = { children: kinds.get(false)?.map(textOf) ?? [], continuations: kinds.get(true)?.map(textOf) ?? [] }
  return {
    ...texts,
    origin: originRow && {
      ...childIn(slug, originText!),
      isContinued: isContinuation(parent_kind),
      agent: agentName(JSON.parse(originRow.agent_id) as string),
    },
    linked,
    texts: [...texts.children, ...texts.continuations, ...(originText === undefined ? [] : [originText])],
  }
}
