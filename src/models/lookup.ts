import { labsOf } from './labs.ts'
import { spellingsOf } from './normalized-id.ts'

/** A model of the registry, as far as finding it goes. */
export type Entry = {
  readonly providerId: string
  readonly modelId: string
  readonly normalizedId: string
  readonly name: string
}

const NO_MODEL = '<synthetic>'
const MAX_LENGTH = 500

/** Bedrock adds a version to the lab's own id: claude-opus-4-6-v1. */
const withoutVersion = (id: string) => id.replace(/-v\d+$/, '')

const group = <T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> => {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const found = groups.get(key)
    if (found) found.push(item)
    else groups.set(key, [item])
  }
  return groups
}

/** The entry whose name most of `all` use; of two such names the one that comes first. */
const mostCommon = (entries: readonly Entry[], all: readonly Entry[]): Entry => {
  const uses = (entry: Entry) => all.filter(({ name }) => name === entry.name).length
  const better = (a: Entry, b: Entry) => uses(b) - uses(a) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
  return [...entries].sort(better)[0]!
}

const ofLab = (entries: readonly Entry[]): Entry[] => {
  for (const lab of labsOf(entries[0]?.normalizedId ?? '')) {
    const own = entries.filter(({ providerId }) => providerId === lab)
    if (own.length > 0) return own
  }
  return []
}

/**
 * Finds what an agent calls a model: `provider/model` exactly; else the lab's own entry, else that of the most common
 * name, first among those with this very id, then among all its spellings.
 */
export const newLookup = (entries: readonly Entry[]): ((written: string) => Entry | undefined) => {
  const byPair = new Map(entries.map((entry) => [`${entry.providerId}/${entry.modelId}`, entry]))
  const byId = group(entries, ({ modelId }) => modelId)
  const byNormalizedId = group(entries, (entry) => entry.normalizedId)

  const find = (written: string): Entry | undefined => {
    const exact = byId.get(written) ?? []
    const [own] = ofLab(exact)
    if (own) return own
    const spellings = spellingsOf(written)
    for (const spelling of [...spellings.slice(0, 1), ...spellings.slice(0, 1).map(withoutVersion)]) {
      const all = byNormalizedId.get(spelling) ?? []
      const lab = ofLab(all)
      if (lab.length > 0) return mostCommon(lab, all)
    }
    const known = spellings.find((spelling) => byNormalizedId.has(spelling))
    if (known === undefined) return undefined
    const all = byNormalizedId.get(known)!
    const lab = ofLab(all)
    return mostCommon(lab.length > 0 ? lab : exact.length > 0 ? exact : all, all)
  }

  return (written) => {
    if (written === NO_MODEL || written.length > MAX_LENGTH) return undefined
    return byPair.get(written) ?? find(written)
  }
}
