import type { RecordedEvent } from '../log/log.ts'
import type { TraceEvent } from './events.ts'

const erases = (type: string): type is 'TraceDeleted' | 'HistoryErased' =>
  (['TraceDeleted', 'HistoryErased'] satisfies TraceEvent['type'][] as string[]).includes(type)

/** The revision before which an event has all of its stream erased; undefined for an event that erases nothing. */
export const erasedBefore = ({
  type,
  revision,
  data,
}: Pick<RecordedEvent, 'type' | 'revision' | 'data'>): bigint | undefined => {
  if (!erases(type)) return undefined
  return type === 'TraceDeleted' ? revision : BigInt((JSON.parse(data) as { since: number }).since)
}
