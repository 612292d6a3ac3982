import { Rejected } from '../../eventstore/engine/rejected.ts'
import type { Origin } from './events.ts'

/** A trace that is being moved here, and is not here yet. */
export type Arriving = {
  readonly externalId: string
  /** The namespace that it is moved to. */
  readonly namespaceId: string
  readonly createdBy: string
  readonly movedFrom: Origin
}

/** @throws Rejected exists: a trace cannot be moved to where another one has its externalId */
export const exists = (externalId: string): Rejected =>
  new Rejected(
    'exists',
    `The namespace has another trace with the externalId ${externalId}, so nothing was moved: delete one of the two first`,
  )

/** Whether two traces that are moved here come from the same life of one. */
export const isSameOrigin = (one: Origin, other: Origin): boolean =>
  one.namespaceId === other.namespaceId && one.deletions === other.deletions

/** @throws Rejected exists while a trace is being moved here */
export const assertNotArriving = ({
  trace,
}: {
  readonly trace: { readonly arriving?: Arriving | undefined } | { readonly is: 'present' }
}): void => {
  if ('arriving' in trace && trace.arriving)
    throw new Rejected('exists', 'A trace with this externalId is being moved here: send the request again later')
}
