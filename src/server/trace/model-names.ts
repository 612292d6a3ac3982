import type { KnownModels, ModelRegistry } from '../models/registry.ts'
import { usageTexts } from '../usage/sums.ts'
import type { FieldsOfUpsert } from './decide.ts'
import type { PresentTrace } from './state.ts'
import type { TraceRow } from './rows.ts'

/** The given fields of a trace, with the name of its model from the registry. */
export const withModelName = async (registry: ModelRegistry, given: FieldsOfUpsert): Promise<FieldsOfUpsert> =>
  given.model === undefined ? given : { ...given, ...(await registry.resolve(given.model)) }

/** A row of a trace as answers show it: with the present name of its model, what it has used, and what that cost. */
export type ShownRow<Row extends TraceRow = TraceRow> = Row & {
  readonly usage: string | undefined
  readonly cost: string | undefined
}

const NOTHING = { usage: undefined, cost: undefined }

/** A row as answers show it: with the present name of its model, if it was written without one, and with what its messages have used and cost. */
export const shownRow = <Row extends TraceRow>(models: KnownModels, row: Row): ShownRow<Row> => {
  const known = row.model === null || row.model_name !== null ? undefined : models.find(JSON.parse(row.model) as string)
  const named = known
    ? { ...row, model: JSON.stringify(known.model), model_name: JSON.stringify(known.modelName) }
    : row
  return { ...named, ...(row.used === null ? NOTHING : usageTexts(row.used, row.model, models)) }
}

/** A trace with the present name of its model from the registry, if it was recorded without one. */
export const traceWithModelName = (models: KnownModels, trace: PresentTrace): PresentTrace => {
  const { model, modelName } = trace.fields
  const known = model !== undefined && modelName === undefined ? models.find(model) : undefined
  return known ? { ...trace, fields: { ...trace.fields, ...known } } : trace
}
