import { z } from 'zod'
import { formatsOf } from '../../eventstore/engine/codec.ts'
import { event } from '../../eventstore/engine/stream.ts'
import { Model } from '../../contract/models.ts'
import { PatchOperation } from '../../base/json/patch-operation.ts'

const providerFields = {
  name: z.string(),
  env: z.array(z.string()),
  npm: z.string(),
  api: z.string().optional(),
  doc: z.string(),
  /** By model id, which may contain `/`, `:` and `@`. */
  models: z.record(z.string(), Model),
}
export const ModelProvider = z.object(providerFields)
export type ModelProvider = z.infer<typeof ModelProvider>

/** Stream `models-<provider>`. The paths of a patch are `/<field>` and `/models/<id>` only. */
export const ModelsEvent = z.discriminatedUnion('type', [
  event('ProviderAdded', providerFields),
  event('ProviderUpdated', { patch: z.array(PatchOperation) }),
  event('ProviderRemoved', {}),
])
export type ModelsEvent = z.infer<typeof ModelsEvent>
export const modelsFormats = formatsOf(ModelsEvent)
