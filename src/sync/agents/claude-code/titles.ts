import { type Json, textOf } from '../support/json.ts'

type Summary = { readonly leaf: string; readonly summary: string }

/** What lines say of the title, as plain JSON. */
export type SavedTitles = {
  readonly custom?: string | undefined
  readonly ai?: string | undefined
  readonly summaries: readonly Summary[]
}

/** The titles that a session's lines give it (README, rule 10). */
export const newTitles = (saved: SavedTitles = { summaries: [] }) => {
  let { custom, ai } = saved
  const summaries = [...saved.summaries]
  return {
    note: (json: Json): void => {
      const { type, leafUuid: leaf } = json
      const summary = textOf(json['summary'])
      if (type === 'custom-title') custom = textOf(json['customTitle']) ?? custom
      if (type === 'ai-title') ai = textOf(json['aiTitle']) ?? ai
      if (type === 'summary' && summary && typeof leaf === 'string') summaries.push({ leaf, summary })
    },
    /** The user's title, else the agent's, else the last summary of this session: files also hold those of others. */
    best: (isOwn: (uuid: string) => boolean): string | undefined =>
      custom ?? ai ?? summaries.findLast(({ leaf }) => isOwn(leaf))?.summary,
    /** Without the summaries that an own one follows: they are never the last one. */
    save: (isOwn: (uuid: string) => boolean): SavedTitles => {
      const last = summaries.findLastIndex(({ leaf }) => isOwn(leaf))
      return { custom, ai, summaries: summaries.slice(Math.max(0, last)) }
    },
  }
}
