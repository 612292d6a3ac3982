/** What a check has found wrong. Each kind means that something was tampered with, except `lost`: a failover loses events, too. */
export type FindingKind =
  /** The event is not what its leaf says. */
  | 'changed'
  /** The event of a leaf is not in the log, and was not erased. */
  | 'removed'
  /** An event of the log has no leaf. */
  | 'inserted'
  /** An event lies elsewhere in the log or in its stream than its leaf says. */
  | 'moved'
  /** Events lie in another order in the log than in the tree. */
  | 'reordered'
  /** The event was lost with the end of the log, in the epoch that is named. */
  | 'lost'
  /** What is stored of the tree contradicts itself. */
  | 'tree'
  /** A checkpoint is not signed by its key, or the leaves do not lead to it. */
  | 'checkpoint'

export type Finding = {
  readonly kind: FindingKind
  readonly stream?: string
  readonly revision?: bigint
  /** The event's id. */
  readonly id?: string
  /** The index of the leaf. */
  readonly leaf?: number
  /** Of a lost event. */
  readonly epoch?: string
  /** Of a lost event: it is among those that the operator has said to know of, so it counts for nothing. */
  readonly isAccepted?: true
  readonly detail: string
}

export type Report = (finding: Finding) => void

/** A finding as a line for people. */
export const describeFinding = ({ kind, stream, revision, id, isAccepted, detail }: Finding): string => {
  const event = stream === undefined ? '' : ` ${stream}${revision === undefined ? '' : ` revision ${revision}`}`
  return `${kind}:${event}${id === undefined ? '' : ` (${id})`}${event || id ? ':' : ''} ${detail}${isAccepted ? ', which was accepted' : ''}`
}

/** The same as one line of JSON. */
export const findingJson = ({ revision, ...finding }: Finding): string =>
  JSON.stringify({ type: 'finding', ...finding, ...(revision === undefined ? {} : { revision: Number(revision) }) })
