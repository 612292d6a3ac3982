import { labsOf } from './labs.ts'
import { spellingsOf } from './normalized-id.ts'

/** A model of the registry, with what is needed to find it. */
export type ModelEntry = {
  readonly providerId: string
  readonly modelId: string
  readonly normalizedId: string
  readonly name: string
}

const SYNTHETIC_MODEL = '<synthetic>'
const MAX_LENGTH = 500

/** Bedrock adds a version to the lab's own id: claude-opus-4-6-v1. */
const withoutVersion = (id: string) => id.replace(/-v\d+$/, '')

/** The entry with the name that most of `all` have; on a tie the first name in alphabetical order. */
const mostCommon = (entries: readonly ModelEntry[], all: readonly ModelEntry[]): ModelEntry => {
  const countOfName = (entry: ModelEntry) => all.filter(({ name }) => name === entry.name).length
  const byCount = (a: ModelEntry, b: ModelEntry) =>
    countOfName(b) - countOfName(a) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
  return [...entries].sort(byCount)[0]!
}

const entriesOfLab = (entries: readonly ModelEntry[]): ModelEntry[] => {
  for (const lab of labsOf(entries[0]?.normalizedId ?? '')) {
    const own = entries.filter(({ providerId }) => providerId === lab)
    if (own.length > 0) return own
  }
  return []
}

/**
 * A function that finds the model that an agent's spelling means; undefined for an unknown one. Tries `provider/model`, then
 * the exact id at the lab that made the model, then the normalized ids. Of several entries it prefers those of the lab, then
 * the most common name.
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
    for (const spelling of [...spellings.slice(0, 1), ...spellings.slice(0, 1).map(withoutVersion)]) {
      const all = byNormalizedId.get(spelling) ?? []
      const lab = entriesOfLab(all)
      if (lab.length > 0) return mostCommon(lab, all)
    }
    const known = spellings.find((spelling) => byNormalizedId.has(spelling))
    if (known === undefined) return undefined
    const all = byNormalizedId.get(known)!
    const lab = entriesOfLab(all)
    return mostCommon(lab.length > 0 ? lab : exact.length > 0 ? exact : all, all)
  }

  return (written) => {
    if (written === SYNTHETIC_MODEL || written.length > MAX_LENGTH) return undefined
    return byPair.get(written) ?? find(written)
  }
}
