const regions = new Set('us eu apac global jp au ca sa us-gov'.split(' '))
const vendors = new Set(
  `ai21 amazon anthropic cohere deepseek google ibm meta microsoft minimax mistral moonshot moonshotai nvidia openai qwen
  stability twelvelabs writer xai zai`.split(/\s+/),
)

/** Without `vendor.` or `region.vendor.` in front. */
const withoutVendor = (id: string): string => {
  const [first = '', second, third] = id.split('.', 3)
  if (vendors.has(first) && second !== undefined) return id.slice(first.length + 1)
  const isRegional = regions.has(first) && vendors.has(second ?? '') && third !== undefined
  return isRegional ? id.slice(first.length + second!.length + 2) : id
}

const before = (text: string, mark: string): string => (text.includes(mark) ? text.slice(0, text.indexOf(mark)) : text)

/** Without what stands in brackets at the end. */
const withoutBrackets = (id: string): string => {
  if (!id.endsWith(']')) return id
  const start = id.indexOf('[', id.lastIndexOf(']', id.length - 2) + 1)
  return start < 0 ? id : id.slice(0, start)
}

/**
 * One id for the many spellings of a model: lower case, without region and vendor, date, version and suffix, and with
 * `-` where digits are separated by `.`.
 */
export const normalizedId = (id: string): string => {
  const lower = id.toLowerCase()
  const model = withoutVendor(lower.slice(lower.lastIndexOf('/') + 1))
    .replace(/-v\d+:\d+$/, '')
    .replace(/:[^:]*$/, '')
  return before(model, '@')
    .replace(/-20\d{6}$/, '')
    .replace(/(\d)\.(?=\d)/g, '$1-')
}

/** What agents add to a model's id that says how it runs, not which it is. */
const additions = [
  /-20\d\d-\d\d-\d\d$/, // OpenAI: gpt-5-2025-08-07
  /-v\d+$/, // Bedrock: anthropic.claude-opus-4-6-v1
  /-latest$/,
  /-(?:none|minimal|low|medium|high|xhigh|thinking)$/, // effort: gpt-5.1-codex-high
]

/** Ids to look for, the likeliest first: the one that was written, then with less and less of what agents add to it. */
export const spellingsOf = (written: string): string[] => {
  let rest = withoutBrackets(written.toLowerCase()) // Claude Code: claude-opus-4-6[1m]
  const spellings = [normalizedId(written), normalizedId(rest)]
  for (const addition of additions) {
    rest = rest.replace(addition, '')
    spellings.push(normalizedId(rest))
  }
  return [...new Set(spellings)].filter((spelling) => spelling !== '')
}
