import type { TraceEvent } from './events.ts'

/** The deletion that has ended an incarnation of a trace. Times are milliseconds. */
export type Deletion = {
  readonly createdAt: number
  readonly deletedAt: number
  readonly deletedBy?: string | undefined
  /** How many messages it had; not known of deletions that an older version stored. */
  readonly messageCount?: number | undefined
}

/** The earlier deletions of a trace: how many there were, and the newest of them, the last one at the end. */
export type Earlier = { readonly count: number; readonly newest: readonly Deletion[] }

type Deleted = Extract<TraceEvent, { type: 'TraceDeleted' }>['data']

/** Each deletion carries what was known of those before it: all of them would grow with the square of their number. */
const KEPT = 20

export const NO_EARLIER: Earlier = { count: 0, newest: [] }

/** What a deletion's event says of those before it. */
export const toldOf = ({ count, newest }: Earlier): Pick<Deleted, 'earlier' | 'earlierCount'> => ({
  earlier: [...newest],
  ...(count > newest.length ? { earlierCount: count } : {}),
})

/** The earlier deletions together with the one that this event tells of. */
export const endedBy = (data: Deleted, at: number, deletedBy: string | undefined): Earlier => ({
  count: (data.earlierCount ?? data.earlier.length) + 1,
  newest: [
    ...data.earlier,
    {
      createdAt: data.createdAt,
      deletedAt: at,
      ...(deletedBy === undefined ? {} : { deletedBy }),
      messageCount: data.messageCount,
    },
  ].slice(-KEPT),
})
