import type { Registry } from '../models/registry.ts'
import type { GivenFields } from './decide.ts'

/** What is given of a trace, its model under the name that the registry has for it (interface: Behaviours 1). */
export const named = async (registry: Registry, given: GivenFields): Promise<GivenFields> =>
  given.model === undefined ? given : { ...given, ...(await registry.resolve(given.model)) }
