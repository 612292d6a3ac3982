import type { Part } from '../agent.ts'
import { type Json, objectOf, textOf } from '../support/json.ts'
import { errorPart, textPart } from '../support/parts.ts'

const errorText = (json: Json): string => {
  const error = objectOf(json['error'])
  const inner = objectOf(error['error'])
  const candidates = [
    json['error'],
    error['formatted'],
    error['message'],
    objectOf(inner['error'])['message'],
    inner['message'],
  ]
  const text = [...candidates, json['content']].map(textOf).find((value) => value !== undefined) ?? 'API error'
  const { retryAttempt, maxRetries } = json
  return typeof retryAttempt === 'number' && typeof maxRetries === 'number'
    ? `${text} (retry ${retryAttempt} of ${maxRetries})`
    : text
}

/** The parts of a system line: a compaction or an API error; other subtypes have none (README, rule 6). */
export const systemParts = (json: Json): readonly Part[] => {
  switch (json['subtype']) {
    case 'compact_boundary':
      return textPart(textOf(json['content']) ?? 'Conversation compacted')
    case 'api_error':
      return [errorPart(errorText(json))]
    default:
      return []
  }
}
