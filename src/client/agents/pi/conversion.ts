import type { Json } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'

/** Whether a header is that of a file which the agent has converted from version 1: it adds the version behind what was there (README, rule 8). */
export const isConverted = (header: Json): boolean => {
  const names = Object.keys(header)
  return names.indexOf('version') > names.indexOf('id')
}

/** Where a compaction of version 1 says what it has kept: a converted one says it by an id. */
const keptIndex = /,"firstKeptEntryIndex":\d{1,15}(?=,"tokensBefore":\d{1,15}\}$)/

/**
 * The text of an entry as it was in version 1, where entries had no ids, so that its message keeps the id that is made from it; undefined for an entry
 * that has always had one. `isConverted` tells of the file whether it was converted.
 */
export const textInVersion1 = ({ json, text }: ObjectLine, isConverted: boolean): string | undefined => {
  const { id, parentId, firstKeptEntryId } = json
  if (id === undefined) return text.replace(keptIndex, '')
  const added = `,${JSON.stringify({ id, parentId, firstKeptEntryId }).slice(1)}`
  return isConverted && text.endsWith(added) ? `${text.slice(0, -added.length)}}` : undefined
}
