import type { EventLog } from '../../src/eventstore/log/log.ts'

/** The types of the events of this log after a position, without those of other logs on the same server. */
export const typesSince = async (log: EventLog, after: bigint): Promise<string[]> =>
  (await Array.fromAsync(log.readAll({ after }))).map(({ type }) => type)
