import type { ModelRegistry } from '../models/registry.ts'
import type { GivenFields, PresentTrace } from './decide.ts'
import type { TraceRow } from './rows.ts'

/** What is given of a trace, its model under the name that the registry has for it. */
export const withModelName = async (registry: ModelRegistry, given: GivenFields): Promise<GivenFields> =>
  given.model === undefined ? given : { ...given, ...(await registry.resolve(given.model)) }

/** A row whose model was written before the registry knew it, under the name that the registry has for it now. */
export const rowWithModelName = <Row extends Pick<TraceRow, 'model' | 'model_name'>>(
  registry: ModelRegistry,
  row: Row,
): Row => {
  if (row.model === null || row.model_name !== null) return row
  const known = registry.peek(JSON.parse(row.model) as string)
  return known ? { ...row, model: JSON.stringify(known.model), model_name: JSON.stringify(known.modelName) } : row
}

/** The same for a trace as decisions know it. */
export const traceWithModelName = (registry: ModelRegistry, trace: PresentTrace): PresentTrace => {
  const { model, modelName } = trace.fields
  const known = model !== undefined && modelName === undefined ? registry.peek(model) : undefined
  return known ? { ...trace, fields: { ...trace.fields, ...known } } : trace
}
