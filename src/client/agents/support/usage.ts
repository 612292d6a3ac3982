import type { Usage } from '../../../contract/usage.ts'
import { digest } from '../../digest.ts'

/** What an agent has stored of an answer's usage; anything that is no usable value counts as unknown. */
type Stored = { readonly [Name in keyof Usage]?: unknown }

/** A number of tokens; undefined for anything else. */
const tokensIn = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined

/** The sum of numbers of tokens, of which those that are unknown count as none; undefined if all are unknown. */
export const sumOf = (...values: readonly unknown[]): number | undefined => {
  const known = values.flatMap((value) => tokensIn(value) ?? [])
  return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0)
}

/** The tokens of an input that were not cached, from all of them and those that were. */
export const uncached = (input: unknown, cached: unknown): number | undefined => {
  const all = tokensIn(input)
  return all === undefined ? undefined : Math.max(0, all - (tokensIn(cached) ?? 0))
}

const MOST_ID = 200

const idIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= MOST_ID && value.isWellFormed() && !value.includes('\0')
    ? value
    : undefined

const TOKENS = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] as const

/**
 * The usage of an answer. Undefined if nothing is known of it, or all of it is zero, as agents write where they know nothing. So is a cost
 * of zero.
 */
export const usageOf = (stored: Stored): Usage | undefined => {
  const used: { -readonly [Name in keyof Usage]: Usage[Name] } = {}
  let isAny = false
  for (const name of TOKENS) {
    const count = tokensIn(stored[name])
    if (count === undefined) continue
    used[name] = count
    isAny ||= count > 0
  }
  const { costUsd } = stored
  if (typeof costUsd === 'number' && Number.isFinite(costUsd) && costUsd > 0) {
    used.costUsd = costUsd
    isAny = true
  }
  if (!isAny) return undefined
  const responseId = idIn(stored.responseId)
  return responseId === undefined ? used : { ...used, responseId }
}

/**
 * The same with a `responseId` that is made of the time, the model and all numbers, for agents that copy answers into another session
 * and do not store the provider's id: so a copy is known.
 */
export const withMadeId = (usage: Usage | undefined, time: unknown, model: string | undefined): Usage | undefined =>
  usage && { ...usage, responseId: `made-${digest(JSON.stringify([time, model ?? null, usage]))}` }
