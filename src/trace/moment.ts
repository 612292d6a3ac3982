import { invalid } from '../http/http-error.ts'
import type { Moment } from './services.ts'

/** The past moment that a query asks for (`pastQuery` of the contract); undefined for the present. @throws 400 if it asks for two */
export const momentOf = ({
  revision,
  at,
}: {
  readonly revision?: bigint | undefined
  readonly at?: number | undefined
}): Moment | undefined => {
  if (revision !== undefined && at !== undefined) throw invalid('at', 'a revision and a time cannot be given both')
  if (revision !== undefined) return { revision }
  return at === undefined ? undefined : { at }
}
