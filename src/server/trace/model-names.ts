import type { ModelRegistry } from '../models/registry.ts'
import type { FieldsOfUpsert } from './decide.ts'
import type { PresentTrace } from './state.ts'
import type { TraceRow } from './rows.ts'

/** The given fields of a trace, with the name of its model from the registry. */
export const withModelName = async (registry: ModelRegistry, given: FieldsOfUpsert): Promise<FieldsOfUpsert> =>
  given.model === undefined ? given : { ...given, ...(await registry.resolve(given.model)) }

/** A row with the present name of its model from the registry, if the row was written without one. */
export const rowWithModelName = <Row extends Pick<TraceRow, 'model' | 'model_name'>>(
  registry: ModelRegistry,
  row: Row,
): Row => {
  if (row.model === null || row.model_name !== null) return row
  const known = registry.peek(JSON.parse(row.model) as string)
  return known ? { ...row, model: JSON.stringify(known.model), model_name: JSON.stringify(known.modelName) } : row
}

/** A trace with the present name of its model from the registry, if it was recorded without one. */
export const traceWithModelName = (registry: ModelRegistry, trace: PresentTrace): PresentTrace => {
  const { model, modelName } = trace.fields
  const known = model !== undefined && modelName === undefined ? registry.peek(model) : undefined
  return known ? { ...trace, fields: { ...trace.fields, ...known } } : trace
}
