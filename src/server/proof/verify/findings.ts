/** The kinds of findings. Each means that something was tampered with, except `lost`: a failover loses events, too. */
type FindingKind =
  /** The event differs from its leaf. */
  | 'changed'
  /** The event of a leaf is not in the log, and was not erased. */
  | 'removed'
  /** An event of the log has no leaf. */
  | 'inserted'
  /** The position, stream or revision of an event differs from its leaf. */
  | 'moved'
  /** Events have another order in the log than in the tree. */
  | 'reordered'
  /** The event was lost with the end of the log, before the epoch that is named. */
  | 'lost'
  /** The stored tree contradicts itself. */
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
  /** The epoch of a lost event. */
  readonly epoch?: string
  /** Whether the operator has accepted the loss of a lost event, which then does not count as a finding. */
  readonly isAccepted?: true
  readonly detail: string
}

export type Report = (finding: Finding) => void

/** A finding as a line of text. */
export const describeFinding = ({ kind, stream, revision, id, isAccepted, detail }: Finding): string => {
  const event = stream === undefined ? '' : ` ${stream}${revision === undefined ? '' : ` revision ${revision}`}`
  return `${kind}:${event}${id === undefined ? '' : ` (${id})`}${event || id ? ':' : ''} ${detail}${isAccepted ? ' (accepted)' : ''}`
}

/** A finding as one line of JSON. */
export const findingJson = ({ revision, ...finding }: Finding): string =>
  JSON.stringify({ type: 'finding', ...finding, ...(revision === undefined ? {} : { revision: Number(revision) }) })
