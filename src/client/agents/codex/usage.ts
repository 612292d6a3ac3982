import type { Usage } from '../../../contract/usage.ts'
import type { SessionMessage } from '../agent.ts'
import { type Json, objectOf } from '../support/json.ts'
import { uncached, usageOf } from '../support/usage.ts'
import { isSummary } from './messages.ts'

const usageFrom = (stored: Json, responseId: unknown): Usage | undefined => {
  const { input_tokens, cached_input_tokens, output_tokens, reasoning_output_tokens } = stored
  return usageOf({
    inputTokens: uncached(input_tokens, cached_input_tokens),
    outputTokens: output_tokens,
    cacheReadTokens: cached_input_tokens,
    reasoningTokens: reasoning_output_tokens,
    responseId,
  })
}

/**
 * What the answers of a session have used, by the line of the last message of each (README, rule 16). Lines that say so come after the messages
 * of their answer.
 */
export const newUsages = () => {
  const byLine = new Map<number, Usage>()
  /** The last message of the answer whose usage has not been told yet. */
  let last: number | undefined
  let isCompacting = false
  let ofCompaction: Usage | undefined
  let hasRecords = false
  let totals = ''

  const tell = (usage: Usage | undefined): void => {
    if (!usage) return
    if (isCompacting) ofCompaction = usage
    else if (last !== undefined) byLine.set(last, usage)
    last = undefined
  }

  /** What a `token_count` says; undefined if it repeats the totals of the one before. */
  const countedIn = (payload: Json): Usage | undefined => {
    const { total_token_usage: total, last_token_usage: stored } = objectOf(payload['info'])
    const text = JSON.stringify(total ?? null)
    const isRepeated = text === totals
    totals = text
    return isRepeated ? undefined : usageFrom(objectOf(stored), undefined)
  }

  return {
    of: (line: number): Usage | undefined => byLine.get(line),
    /** A message of an answer, or of a compaction. */
    noteMessage: ({ role, order }: SessionMessage, isCompaction: boolean): void => {
      if (role !== 'assistant' && !isCompaction) return
      last = order
      if (!isCompaction) return
      isCompacting = false
      tell(ofCompaction)
      ofCompaction = undefined
    },
    noteLine: (json: Json, payload: Json): void => {
      const { type } = json
      // The message of a compaction comes after its summary.
      if (isSummary(json)) isCompacting = true
      if (type === 'token_usage_record') {
        hasRecords = true
        tell(usageFrom(objectOf(payload['usage']), payload['response_id']))
      } else if (type === 'event_msg' && payload['type'] === 'token_count') {
        const usage = countedIn(payload)
        if (!hasRecords) tell(usage)
      }
    },
  }
}
export type Usages = ReturnType<typeof newUsages>
