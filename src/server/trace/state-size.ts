import { textBytes } from '../../eventstore/engine/sized-cache.ts'
import type { Trace, TraceState } from './state.ts'

/** About how many bytes of memory the parts of a state take. */
const TRACE_BYTES = 1_500
const DELETION_BYTES = 200
const COUNT_BYTES = 150

const headerSize = (trace: Trace): number => {
  if (trace.is === 'absent') return 0
  const { externalId, fields, summary, counts } = trace
  const tools = Object.keys(counts.toolTypeCounts)
  const texts = [externalId, ...Object.values(fields), summary?.title, summary?.summary, ...tools]
  return textBytes(texts) + tools.length * COUNT_BYTES
}

/** About how many bytes a trace takes in memory. */
export const sizeOfTrace = ({ trace, messages }: TraceState): number =>
  TRACE_BYTES + trace.earlier.newest.length * DELETION_BYTES + headerSize(trace) + messages.bytes

/** Keeps only the messages that the next command is likely to need. */
export const trimTrace = (state: TraceState): TraceState => {
  state.messages.trim()
  return state
}
