import type { ReadTables } from '../../tables/main.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import type { TraceDetail } from '../../contract/trace.ts'
import type { Caller } from '../http/caller.ts'
import type { ModelRegistry } from '../models/registry.ts'
import { countCommits } from '../commit/queries.ts'
import { locateToRead } from '../trace/locate.ts'
import { shownRow } from '../trace/model-names.ts'
import { mayWrite } from '../trace/policy.ts'
import type { StoredDetail } from '../trace/queries.ts'
import { checkRight } from '../trace/right-to-read.ts'
import { detailText } from '../trace/views.ts'
import { headOf, readTrace } from '../../transcript/head.ts'
import type { CallCounts } from '../../transcript/html/ticks.ts'
import { visibleLine } from '../../transcript/visible.ts'
import type { ModelNames, SessionValues } from './row-steps.ts'
import { isOfAgent, relationsOf } from './trace-relations.ts'

export type ShownServices = { readonly reads: Reads<ReadTables>; readonly models: ModelRegistry }

/** The values of a trace that its rows depend on, for the thread that makes them. */
export const sessionValues = ({
  slug,
  trace,
  fields,
  relations,
  head: { author, folder, model },
}: ShownTrace): SessionValues => ({
  slug,
  externalId: trace.external_id,
  agentId: String(fields.get('agentId')),
  children: relations.children,
  continuations: relations.continuations,
  author,
  folder,
  model,
})

const authorStatement = 'select display_name from users where id = $1'

/** The name of the person who made a trace; undefined if an agent did, or the person has none. */
export const personOf = async (reads: ShownServices['reads'], trace: StoredDetail): Promise<string | undefined> => {
  if (isOfAgent(trace)) return undefined
  const [row] = await reads.rows<{ display_name: string | null } & Row>('user-name', authorStatement, [
    trace.created_by,
  ])
  const name = row?.display_name ? visibleLine(JSON.parse(row.display_name) as string) : ''
  return name === '' ? undefined : name
}

/**
 * A trace that the caller may read, with everything that a page shows of it besides messages.
 * @throws 404 if it does not exist, or the caller may not read it; 401 if there is no caller and the trace is not public
 */
export const showTrace = async (
  { reads, models }: ShownServices,
  { slug, externalId }: { readonly slug: string; readonly externalId: string },
  caller: Caller | undefined,
) => {
  const { trace, role, ...located } = await locateToRead(reads, { externalId, namespace: slug }, caller)
  const [person, commits, relations] = await Promise.all([
    personOf(reads, trace),
    located.reader.isMember ? countCommits(reads, trace.id) : 0,
    relationsOf({ reads, models }, trace, located.reader.isMember),
  ])
  const reader = { ...located.reader, linked: relations.linked }
  /** The JSON text of the trace, as in answers of the API. */
  const known = await models.known()
  const text = detailText(shownRow(known, trace))
  const fields = readTrace(text)
  const head = headOf(fields)
  /** The name of a model in messages; that of the trace has the name in the head, which may be one that was recorded. */
  const modelName: ModelNames = (spelling) => {
    const found = known.find(spelling)
    return found?.model === head.model.id ? (head.model.name ?? found?.modelName) : found?.modelName
  }
  const author = isOfAgent(trace) ? (relations.origin?.agent ?? head.lead.agent ?? 'an agent') : person
  return {
    trace,
    slug: trace.slug ?? slug,
    text,
    fields,
    head: { ...head, author },
    modelName,
    relations,
    /** How many recorded commits have lines of it; for members only. */
    commits,
    reader,
    mayWrite: caller !== undefined && mayWrite({ createdBy: trace.created_by }, { userId: caller.userId, role }),

    /** Checks again that the caller may read the trace, and returns the position of the log at which that is so. @throws if not */
    check: () => checkRight(reads, reader, trace.incarnation),
  }
}

export type ShownTrace = Awaited<ReturnType<typeof showTrace>>

/** The numbers of calls, edits and failures after each prompt; empty unless the trace has them for each prompt. */
export const shapeOf = (fields: ReadonlyMap<string, unknown>): readonly CallCounts[] => {
  const shape = fields.get('shape')
  if (typeof shape !== 'object' || shape === null) return []
  const { prompts, segments } = shape as { readonly prompts?: unknown; readonly segments?: readonly CallCounts[] }
  return Array.isArray(segments) && segments.length === prompts ? (segments as readonly CallCounts[]) : []
}

/** The number of files that the session changed. */
export const changedFiles = (fields: ReadonlyMap<string, unknown>): number => {
  const shape = fields.get('shape') as TraceDetail['shape']
  return shape?.files ?? 0
}
