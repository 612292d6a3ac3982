import { hasStatus } from '../api/errors.ts'
import type { AttributedRange, AttributionClient, Hunk } from '../api/attribution.ts'
import { type Limits, questionsOf } from './pieces.ts'

/** What is asked with every question. */
type Asked = { readonly key: string; readonly repositories?: string[] }

type Options = {
  /** The externalIds of sessions that the answer leaves out. */
  readonly without?: readonly string[]
  readonly isWanted?: Parameters<typeof questionsOf>[2]
}

/** Gives for each hunk what is known of it, in order. @throws RequestFailed, Error if the key has changed meanwhile */
export type AskHunks = (hunks: readonly Hunk[], options?: Options) => Promise<readonly (readonly AttributedRange[])[]>

/** Explains why a question was refused. @throws Error; any other error unchanged */
export const explainQuestion = (error: unknown): never => {
  if (hasStatus(error, 409) && error.code === 'key_changed')
    throw new Error('The namespace has got another key for lines meanwhile. Run this again.', { cause: error })
  throw error
}

/** Asks in as few questions as the limits allow, one after the other. */
export const newAsk =
  ({ ask }: Pick<AttributionClient, 'ask'>, asked: Asked, limits: Limits): AskHunks =>
  async (hunks, { without = [], isWanted } = {}) => {
    const found: AttributedRange[][] = hunks.map(() => [])
    for (const pieces of questionsOf(hunks, limits, isWanted)) {
      const body = { ...asked, hunks: pieces.map(({ hunk }) => hunk) }
      const left = without.length > 0 ? { without: [...without] } : {}
      const answer = await ask({ ...body, ...left }).catch(explainQuestion)
      for (const [i, { ranges }] of answer.hunks.entries()) found[pieces[i]!.of]!.push(...ranges)
    }
    return found
  }
