import { z } from 'zod'
import { isNegativeZero } from '../base/json/exact.ts'
import { isLongerThan } from '../base/texts.ts'

/** What an answer of a model has used, as its agent has it from the provider. */

const MOST_TOKENS = Number.MAX_SAFE_INTEGER
const MOST_ID = 200

const tokens = (description: string) =>
  z
    .custom<number>((value) => (Number.isSafeInteger(value) && (value as number) >= 0) || isNegativeZero(value), {
      error: `must be a whole number from 0 to ${MOST_TOKENS}`,
    })
    .meta({ type: 'integer', minimum: 0, maximum: MOST_TOKENS, description, examples: [1_200] })
    .optional()

const members = {
  inputTokens: tokens('Tokens of the input that were not in a cache'),
  outputTokens: tokens('Tokens of the output, with those of thinking'),
  cacheReadTokens: tokens('Tokens of the input that were read from a cache'),
  cacheWriteTokens: tokens('Tokens of the input that were written to a cache'),
  reasoningTokens: tokens('How many of `outputTokens` were thinking'),
  costUsd: z
    .custom<number>((value) => (typeof value === 'number' && value >= 0) || isNegativeZero(value), {
      error: 'must be a number from 0 on',
    })
    .meta({ type: 'number', minimum: 0, description: 'What the answer cost, in US dollars', examples: [0.0123] })
    .optional(),
  responseId: z
    .string()
    .refine((text) => text !== '' && !isLongerThan(text, MOST_ID), { error: `must have 1 to ${MOST_ID} characters` })
    .refine((text) => text.isWellFormed() && !text.includes('\0'), {
      error: 'must have neither NUL nor a lone surrogate',
    })
    .meta({
      minLength: 1,
      maxLength: MOST_ID,
      description: 'The id of the answer at the provider',
      examples: ['msg_01XFDUDYJgAACzvnptvVoYEL'],
    })
    .optional(),
}

type Name = keyof typeof members
const names = Object.keys(members) as Name[]

/**
 * The usage of one message. It has at least one member; each is left out when it is not known. `reasoningTokens` are a part of
 * `outputTokens`, and never added to them.
 */
export const Usage = z
  .object(members)
  .refine((usage) => names.some((name) => usage[name] !== undefined), {
    error: `must have at least one of ${names.join(', ')}`,
  })
  .meta({
    id: 'Usage',
    minProperties: 1,
    description: 'What the answer has used. Members that are not known are absent',
  })
export type Usage = z.infer<typeof Usage>

/** A valid usage with its known members alone, in one order, so that equal ones have the same JSON text. */
export const normalUsage = (usage: Usage): Usage =>
  Object.fromEntries(
    names.flatMap((name) => (usage[name] === undefined ? [] : [[name, isNegativeZero(usage[name]) ? 0 : usage[name]]])),
  )

const sumOf = (name: Exclude<Name, 'responseId'>, description: string) =>
  z
    .number()
    .meta({ minimum: 0, description: `${description}; absent if no message has \`${name}\`` })
    .optional()

/** What several messages have used together. */
export const UsageSums = z
  .object({
    inputTokens: sumOf('inputTokens', 'Tokens of the input that were not in a cache'),
    outputTokens: sumOf('outputTokens', 'Tokens of the output, with those of thinking'),
    cacheReadTokens: sumOf('cacheReadTokens', 'Tokens of the input that were read from a cache'),
    cacheWriteTokens: sumOf('cacheWriteTokens', 'Tokens of the input that were written to a cache'),
    reasoningTokens: sumOf('reasoningTokens', 'How many of `outputTokens` were thinking'),
    costUsd: sumOf('costUsd', 'What the messages that say so have cost, in US dollars'),
  })
  .meta({
    id: 'UsageSums',
    description:
      'The sums of what messages have used. Of several messages with one `responseId` the first counts. Unknown sums are absent',
    examples: [{ inputTokens: 1_200, outputTokens: 350, cacheReadTokens: 40_000 }],
  })
export type UsageSums = z.infer<typeof UsageSums>

/** The most models that `unpriced` names. */
export const MOST_UNPRICED = 20

export const Cost = z
  .object({
    usd: z.number().meta({ minimum: 0, description: 'US dollars, rounded to 9 decimals', examples: [0.8412] }),
    of: z.enum(['reported', 'prices', 'mixed']).meta({
      description:
        '`reported`: what the agents have recorded; `prices`: at the list prices of the model registry when each message came, which ' +
        'need not be what a subscription costs; `mixed`: both',
    }),
    unpriced: z
      .array(z.string())
      .max(MOST_UNPRICED)
      .meta({
        description: 'Models whose price is not known, so that their tokens are not in `usd`',
        examples: [['my-model']],
      })
      .optional(),
  })
  .meta({ id: 'Cost', description: 'What messages have cost. Absent where nothing is known' })
export type Cost = z.infer<typeof Cost>
