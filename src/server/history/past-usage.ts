import type { Usage } from '../../contract/usage.ts'
import { DOLLAR, LONG_CONTEXT, MOST_DOLLARS, kindBits, tokenColumns } from '../../tables/usage.ts'
import type { UsageGroup } from '../usage/sums.ts'

/** The shape of a session, and what its messages had used in groups (`../usage/sums.ts`), as JSON texts. */
export type PastNumbers = { readonly shape: string; readonly used: string }

/** What a message had used, its model, and the position of the event that has set it, or of prices that are the same. */
export type PastUse = {
  readonly usage?: Usage | undefined
  readonly model?: string | undefined
  readonly position: bigint
}

const tokenNames = Object.keys(tokenColumns) as (keyof typeof tokenColumns)[]

const kindsOf = (usage: Usage): number => {
  const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage
  const isLong = inputTokens + cacheReadTokens + cacheWriteTokens > LONG_CONTEXT
  return [...tokenNames, 'costUsd' as const].reduce(
    (kinds, name) => (usage[name] === undefined ? kinds : kinds | kindBits[name]),
    isLong ? kindBits.isLong : 0,
  )
}

const groupOf = (usage: Usage, { model, position }: PastUse): UsageGroup => {
  const [input, output, cacheRead, cacheWrite, reasoning] = tokenNames.map((name) => usage[name] ?? 0)
  const counts = [
    input!,
    output!,
    cacheRead!,
    cacheWrite!,
    reasoning!,
    Math.round(Math.min(usage.costUsd ?? 0, MOST_DOLLARS) * DOLLAR),
  ] as const
  return [model ?? null, String(position), kindsOf(usage), ...counts]
}

/** Collects what messages had used, in any order: of several with one answer of a provider only the first by arrival counts. */
export const newPastUsage = () => {
  const others: UsageGroup[] = []
  const answers = new Map<string, { readonly ordinal: number; readonly group: UsageGroup }>()
  return {
    add: (ordinal: number, use: PastUse): void => {
      const { usage } = use
      if (!usage) return
      const group = groupOf(usage, use)
      if (usage.responseId === undefined) return void others.push(group)
      const known = answers.get(usage.responseId)
      if (!known || ordinal < known.ordinal) answers.set(usage.responseId, { ordinal, group })
    },
    groups: (): UsageGroup[] =>
      [...others, ...[...answers.values()].map(({ group }) => group)].filter(([, , kinds]) => kinds !== 0),
  }
}

export type PastUsage = ReturnType<typeof newPastUsage>
