/** How far a time of a client may be ahead of the clock of the service, in milliseconds: two days, more than any time zone is. */
export const MOST_AHEAD_MS = 2 * 86_400_000

/**
 * Whether a time that a client gave was too far ahead of the clock of the service when it came; in milliseconds since 1970. `arrival` is the time of the
 * event, so that the answer stays the same.
 */
export const isAhead = (time: number, arrival: number): boolean => time > arrival + MOST_AHEAD_MS

/** A time of a client, or when it came where there is none, or one that is too far ahead. */
export const timeOrArrival = (time: number | null | undefined, arrival: number): number =>
  time === null || time === undefined || isAhead(time, arrival) ? arrival : time

type Times = {
  readonly createdAt: number
  readonly updatedAt?: number | undefined
  readonly startedAt?: number | undefined
  readonly endedAt?: number | undefined
}

/** Whether a session has times that are too far ahead: how long it took is not known then. */
export const isSessionAhead = ({ createdAt, updatedAt = createdAt, startedAt, endedAt }: Times): boolean =>
  (startedAt !== undefined && isAhead(startedAt, createdAt)) || (endedAt !== undefined && isAhead(endedAt, updatedAt))

/** How times are marked that are too far ahead. */
export const AHEAD = 'clock ahead'
