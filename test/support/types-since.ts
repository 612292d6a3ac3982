import type { EventLog } from '../../src/log/log.ts'

/** The types of the log's own events behind a position: a server of several logs has others' there, too. */
export const typesSince = async (log: EventLog, after: bigint): Promise<string[]> =>
  (await Array.fromAsync(log.readAll({ after }))).map(({ type }) => type)
