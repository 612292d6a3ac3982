import type { Part, SessionMessage, TraceFields } from '../agents/agent.ts'

const isRaw = (value: unknown): boolean => (JSON as unknown as { isRawJSON(value: unknown): boolean }).isRawJSON(value)

/** Gives the text that is to stand at a place, such as `parts/2/args/env/TOKEN` or `title`. */
export type MapText = (text: string, where: string) => string

/** A value with its texts and keys mapped; the value itself where none of them changes. */
const mapTexts = (value: unknown, where: string, map: MapText): unknown => {
  if (typeof value === 'string') return map(value, where)
  if (typeof value !== 'object' || value === null || isRaw(value)) return value
  let isChanged = false
  const mapped = (item: unknown, key: string | number) => {
    const result = mapTexts(item, `${where}/${key}`, map)
    isChanged ||= result !== item
    return result
  }
  if (Array.isArray(value)) {
    const items = value.map(mapped)
    return isChanged ? items : value
  }
  const entries = Object.entries(value).map(([key, item]) => {
    const newKey = map(key, `${where}/key`)
    isChanged ||= newKey !== key
    return [newKey, mapped(item, newKey)] as const
  })
  return isChanged ? Object.fromEntries(entries) : value
}

type MapPart = (text: string, where: string, isEnv: boolean) => string

/** What is left of a part that nests deeper than can be looked through. */
const TOO_DEEP: Part = { type: 'error', content: { message: 'left out: nested too deeply to be searched for secrets' } }

export const mapPart = (part: Part, where: string, map: MapText): Part => {
  try {
    const content = mapTexts(part.content, where, map)
    return content === part.content ? part : ({ ...part, content } as Part)
  } catch (error) {
    if (error instanceof RangeError) return TOO_DEEP
    throw error
  }
}

export const mapMessage = (
  message: SessionMessage,
  isEnvPart: (part: Part) => boolean,
  map: MapPart,
): SessionMessage => {
  const parts = message.parts.map((part, i) => {
    const isEnv = isEnvPart(part)
    return mapPart(part, `parts/${i}`, (text, where) => map(text, where, isEnv))
  })
  return parts.every((part, i) => part === message.parts[i]) ? message : { ...message, parts }
}

export const mapFields = (fields: TraceFields, map: MapText): TraceFields =>
  mapTexts(fields, 'trace', (text, where) => map(text, where.slice('trace/'.length))) as TraceFields
