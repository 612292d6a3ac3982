import { spellingsOf } from './normalized-id.ts'

/** The providers that are the lab that made a model, by the beginning of its normalized id. The first in the catalogue is used. */
const LABS: readonly (readonly [begins: RegExp, providers: readonly string[]])[] = [
  [/^claude/, ['anthropic']],
  [/^(?:gpt|chatgpt|o\d|codex|text-embedding|dall-e|whisper|sora)(?:-|$|\d)/, ['openai']],
  [/^(?:gemini|gemma|imagen|veo)/, ['google', 'google-vertex']],
  [/^(?:grok)/, ['xai']],
  [/^(?:mistral|mixtral|codestral|devstral|magistral|ministral|pixtral|voxtral|open-mi)/, ['mistral']],
  [/^deepseek/, ['deepseek']],
  [/^(?:qwen|qwq|qvq)/, ['alibaba', 'alibaba-cn']],
  [/^(?:kimi|moonshot)/, ['moonshotai', 'moonshotai-cn', 'kimi-for-coding']],
  [/^glm/, ['zai', 'zhipuai']],
  [/^minimax/, ['minimax', 'minimax-cn']],
  [/^(?:command|c4ai|aya)/, ['cohere']],
  [/^(?:llama|cerebras-llama)/, ['llama']],
  [/^(?:nova-(?:lite|micro|pro|premier|\d)|titan)/, ['amazon-bedrock']],
  [/^nemotron/, ['nvidia']],
  [/^mercury/, ['inception']],
  [/^sonar/, ['perplexity']],
  [/^solar/, ['upstage']],
  [/^step-/, ['stepfun', 'stepfun-ai']],
  [/^mimo/, ['xiaomi']],
  [/^morph/, ['morph']],
]

/** The providers that are the lab that made a model, best first; empty for an unknown one. */
export const labsOf = (normalizedId: string): readonly string[] =>
  LABS.find(([begins]) => begins.test(normalizedId))?.[1] ?? []

/** A model of the registry, with the fields that a lookup uses. */
export type ModelEntry = {
  readonly providerId: string
  readonly modelId: string
  readonly normalizedId: string
  readonly name: string
}

/** Claude Code writes this as the model of messages that it has made itself. */
const SYNTHETIC_MODEL = '<synthetic>'
/** In UTF-16 code units. No id of a model is as long; a longer text is not worth the search. */
const MAX_LENGTH = 500

/** Bedrock adds a version to the lab's own id: claude-opus-4-6-v1. */
const withoutVersion = (id: string) => id.replace(/-v\d+$/, '')

/** Whether any model may be meant. */
const isSearched = (written: string) => written !== SYNTHETIC_MODEL && written.length <= MAX_LENGTH

/** The normalized ids of all models that `newLookup` may find for a spelling that is no exact id. */
export const normalizedIdsOf = (written: string): readonly string[] =>
  isSearched(written) ? spellingsOf(written).flatMap((spelling) => [spelling, withoutVersion(spelling)]) : []

const compareTexts = (a: string, b: string): number => {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** The entry with the name that most of `all` have; on a tie the first name in alphabetical order, then the first provider and id. */
const mostCommon = (entries: readonly ModelEntry[], all: readonly ModelEntry[]): ModelEntry => {
  const countOfName = (entry: ModelEntry) => all.filter(({ name }) => name === entry.name).length
  const byCount = (a: ModelEntry, b: ModelEntry) =>
    countOfName(b) - countOfName(a) ||
    compareTexts(a.name, b.name) ||
    compareTexts(a.providerId, b.providerId) ||
    compareTexts(a.modelId, b.modelId)
  return [...entries].sort(byCount)[0]!
}

/** The entries of the lab that made the model; none if no such lab offers it itself. All entries have the same normalized id. */
const entriesOfLab = (entries: readonly ModelEntry[]): ModelEntry[] => {
  for (const lab of labsOf(entries[0]?.normalizedId ?? '')) {
    const own = entries.filter(({ providerId }) => providerId === lab)
    if (own.length > 0) return own
  }
  return []
}

/**
 * Returns a function that finds the model of the registry for a name of it that an agent writes; undefined for an unknown model. It looks for
 * `provider/model` first, then for the exact id at the lab that made the model, then for the normalized ids. Of several entries it prefers those
 * of the lab, then those with the most common name.
 */
export const newLookup = (entries: readonly ModelEntry[]): ((spelling: string) => ModelEntry | undefined) => {
  const byPair = new Map(entries.map((entry) => [`${entry.providerId}/${entry.modelId}`, entry]))
  const byId = Map.groupBy(entries, ({ modelId }) => modelId)
  const byNormalizedId = Map.groupBy(entries, ({ normalizedId }) => normalizedId)

  const find = (written: string): ModelEntry | undefined => {
    const exact = byId.get(written) ?? []
    const [own] = entriesOfLab(exact)
    if (own) return own
    const spellings = spellingsOf(written)
    const whole = spellings[0]
    for (const spelling of whole === undefined ? [] : [whole, withoutVersion(whole)]) {
      const all = byNormalizedId.get(spelling) ?? []
      const lab = entriesOfLab(all)
      if (lab.length > 0) return mostCommon(lab, all)
    }
    const known = spellings.find((spelling) => byNormalizedId.has(spelling))
    if (known === undefined) return undefined
    const all = byNormalizedId.get(known)!
    const preferred = [entriesOfLab(all), exact].find((some) => some.length > 0)
    return mostCommon(preferred ?? all, all)
  }

  return (written) => {
    if (!isSearched(written)) return undefined
    return byPair.get(written) ?? find(written)
  }
}
