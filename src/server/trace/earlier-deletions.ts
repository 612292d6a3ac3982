import type { Place, TraceEvent } from './events.ts'

/** The deletion of one incarnation of a trace. Times are milliseconds. */
type Deletion = {
  readonly createdAt: number
  readonly deletedAt: number
  readonly deletedBy?: string | undefined
  /** How many messages the trace had. */
  readonly messageCount: number
  /** Where it was moved to. */
  readonly movedTo?: Place | undefined
}

/** The earlier deletions of a trace: how many there were, and the newest ones, the last one at the end. */
export type Earlier = { readonly count: number; readonly newest: readonly Deletion[] }

type Deleted = Extract<TraceEvent, { type: 'TraceDeleted' }>['data']

/** How many earlier deletions an event of a deletion repeats: without a limit the stream would grow with the square of their number. */
const MOST_KEPT = 20

export const NO_EARLIER: Earlier = { count: 0, newest: [] }

/** The earlier deletions as fields of the event of the next one. */
export const earlierFields = ({ count, newest }: Earlier): Pick<Deleted, 'earlier' | 'earlierCount'> => ({
  earlier: [...newest],
  ...(count > newest.length ? { earlierCount: count } : {}),
})

/** The earlier deletions that an event has. */
export const earlierDeletions = ({ earlier, earlierCount }: Pick<Deleted, 'earlier' | 'earlierCount'>): Earlier => ({
  count: earlierCount ?? earlier.length,
  newest: earlier,
})

/** The earlier deletions, including the one of this event, unless it takes back what was being moved here. */
export const withDeletion = (data: Deleted, at: number, deletedBy: string | undefined): Earlier =>
  data.withdrawn ? earlierDeletions(data) : withThis(data, at, deletedBy)

const withThis = (data: Deleted, at: number, deletedBy: string | undefined): Earlier => ({
  count: earlierDeletions(data).count + 1,
  newest: [
    ...data.earlier,
    {
      createdAt: data.createdAt,
      deletedAt: at,
      ...(deletedBy === undefined ? {} : { deletedBy }),
      messageCount: data.messageCount,
      ...(data.movedTo === undefined ? {} : { movedTo: data.movedTo }),
    },
  ].slice(-MOST_KEPT),
})
