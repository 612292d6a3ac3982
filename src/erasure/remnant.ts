import { connectForApplying } from '../engine/apply.ts'
import type { Codec } from '../engine/codec.ts'
import type { OpenGroup } from '../engine/open-groups.ts'
import { replayServed } from '../engine/replay.ts'
import type { Anchor, EventLog, Revision } from '../log/log.ts'
import { closeConnection } from '../postgres/connect.ts'

/** The types of events with which a trace's stream can begin. */
const BEGINNINGS: ReadonlySet<string> = new Set(['TraceCreated', 'TraceDeleted', 'MessageRestated', 'HistoryErased'])

/** Whether a trace's stream lacks its first events. */
export const lacksFirstEvents = async (log: Pick<EventLog, 'read'>, stream: string): Promise<boolean> => {
  for await (const { type } of log.read(stream, { limit: 1 })) return !BEGINNINGS.has(type)
  return false
}

/**
 * Erases the rest of a deleted trace whose stream lacks its first events: a kill during an erasure by an older version, which
 * truncated from the beginning, left such a stream. Rebuilt read models cannot apply its events. Once these are erased, the groups
 * make the stream's rows from its deletion.
 */
export const eraseRemnant = async (
  { url, log, codec }: { readonly url: string; readonly log: EventLog; readonly codec: Codec },
  groups: readonly Pick<OpenGroup, 'group' | 'schema'>[],
  { stream, before, held }: { readonly stream: string; readonly before: Revision; readonly held: Anchor | undefined },
): Promise<void> => {
  await log.truncate(stream, before, held)
  for (const { group, schema } of groups) {
    const client = await connectForApplying(url, schema)
    await replayServed({ client, group }, { log, codec }, stream).finally(() => closeConnection(client))
  }
}
