/** At most this many sub-agents of a trace are counted. */
export const MOST_CHILDREN = 100

/** The number of a session's sub-agents beside it in a list: `12 sub-agents`, or `100+ sub-agents` for any number from 100 on. */
export const subAgentsText = (count: number): string =>
  count < MOST_CHILDREN ? `${count} sub-agent${count === 1 ? '' : 's'}` : `${MOST_CHILDREN}+ sub-agents`
