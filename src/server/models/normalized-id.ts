const REGIONS = new Set('us eu apac global jp au ca sa us-gov'.split(' '))
const VENDORS = new Set(
  `ai21 amazon anthropic cohere deepseek google ibm meta microsoft minimax mistral moonshot moonshotai nvidia openai qwen
  stability twelvelabs writer xai zai`.split(/\s+/),
)

/** Removes `vendor.` or `region.vendor.` from the beginning. */
const withoutVendor = (id: string): string => {
  const [first = '', second, third] = id.split('.', 3)
  if (VENDORS.has(first) && second !== undefined) return id.slice(first.length + 1)
  const isRegional = REGIONS.has(first) && VENDORS.has(second ?? '') && third !== undefined
  return isRegional ? id.slice(first.length + second!.length + 2) : id
}

const textBefore = (text: string, mark: string): string =>
  text.includes(mark) ? text.slice(0, text.indexOf(mark)) : text

/** Removes a part in square brackets from the end. */
const withoutBrackets = (id: string): string => {
  if (!id.endsWith(']')) return id
  const start = id.indexOf('[', id.lastIndexOf(']', id.length - 2) + 1)
  return start < 0 ? id : id.slice(0, start)
}

/**
 * One id for the many spellings of a model: in lower case, without region, vendor, date, version and suffix, and with `-` for
 * `.` between digits.
 */
export const normalizeModelId = (id: string): string => {
  const lower = id.toLowerCase()
  const model = withoutVendor(lower.slice(lower.lastIndexOf('/') + 1))
    .replace(/-v\d+:\d+$/, '')
    .replace(/:[^:]*$/, '')
  return textBefore(model, '@')
    .replace(/-20\d{6}$/, '')
    .replace(/(\d)\.(?=\d)/g, '$1-')
}

/** Suffixes that agents add to a model's id. They say how the model runs, not which one it is. */
const SUFFIXES = [
  /-20\d\d-\d\d-\d\d$/, // OpenAI: gpt-5-2025-08-07
  /-v\d+$/, // Bedrock: anthropic.claude-opus-4-6-v1
  /-latest$/,
  /-(?:none|minimal|low|medium|high|xhigh|thinking)$/, // effort: gpt-5.1-codex-high
]

/** Normalized ids to look for, in order: of the whole spelling, then with more and more suffixes removed. */
export const spellingsOf = (written: string): string[] => {
  let rest = withoutBrackets(written.toLowerCase()) // Claude Code: claude-opus-4-6[1m]
  const spellings = [normalizeModelId(written), normalizeModelId(rest)]
  for (const addition of SUFFIXES) {
    rest = rest.replace(addition, '')
    spellings.push(normalizeModelId(rest))
  }
  return [...new Set(spellings)].filter((spelling) => spelling !== '')
}
