import { invalid } from '../http/http-error.ts'

/** A past moment of a trace: after a revision, or at a time in milliseconds. */
export type Moment = { readonly revision: bigint } | { readonly at: number }

/** The past moment that a query asks for (`pastQuery` of the contract); undefined for the present. @throws 400 if it asks for two */
export const momentOf = ({
  revision,
  at,
}: {
  readonly revision?: bigint | undefined
  readonly at?: number | undefined
}): Moment | undefined => {
  if (revision !== undefined && at !== undefined)
    throw invalid('at', 'cannot be used together with a revision: use only one of them')
  if (revision !== undefined) return { revision }
  return at === undefined ? undefined : { at }
}
