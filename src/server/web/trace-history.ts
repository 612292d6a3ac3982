import type { Caller } from '../http/caller.ts'
import { traceWithTimeline } from '../history/locate.ts'
import type { HistoryServices } from '../history/services.ts'
import type { NamedTrace } from '../pages/trace-actions.ts'
import { shownRow } from '../trace/model-names.ts'
import { detailText } from '../trace/views.ts'
import { readTrace, titleOf } from '../../transcript/head.ts'
import type { TraceParams } from './trace-params.ts'

/**
 * A trace whose history the caller may see, and what pages about its history show of it.
 * @throws 404 if it does not exist, or the caller may not read it; 401 if there is no caller; Rejected forbidden if the caller is not a member
 */
export const traceOfHistory = async (
  services: HistoryServices,
  { slug, externalId }: TraceParams,
  caller: Caller | undefined,
) => {
  const trace = await traceWithTimeline(services, { externalId, namespace: slug }, caller)
  const fields = readTrace(detailText(shownRow(await services.models.known(), trace)))
  const named: NamedTrace = {
    slug: trace.slug ?? slug,
    externalId: trace.external_id,
    title: titleOf(fields),
  }
  return { trace, named, agentId: String(fields.get('agentId')) }
}
