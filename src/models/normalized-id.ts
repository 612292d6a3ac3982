const REGION = '(?:us|eu|apac|global|jp|au|ca|sa|us-gov)'
const VENDOR =
  '(?:ai21|amazon|anthropic|cohere|deepseek|google|ibm|meta|microsoft|minimax|mistral|moonshot|moonshotai|nvidia|openai|qwen|stability|twelvelabs|writer|xai|zai)'
const prefix = new RegExp(`^(?:${REGION}\\.)?${VENDOR}\\.`)

/**
 * One id for the many spellings of a model (readings: Model registry): lower case, without region and vendor, date,
 * version and suffix, and with `-` where digits are separated by `.`.
 */
export const normalizedId = (id: string): string => {
  const lower = id.toLowerCase()
  return lower
    .slice(lower.lastIndexOf('/') + 1)
    .replace(prefix, '')
    .replace(/-v\d+:\d+$/, '')
    .replace(/:[^:]*$/, '')
    .replace(/@.*$/, '')
    .replace(/-20\d{6}$/, '')
    .replace(/(\d)\.(?=\d)/g, '$1-')
}

/** What agents add to a model's id that says how it runs, not which it is. */
const additions = [
  /\[[^\]]*\]$/, // Claude Code: claude-opus-4-6[1m]
  /-20\d\d-\d\d-\d\d$/, // OpenAI: gpt-5-2025-08-07
  /-v\d+$/, // Bedrock: anthropic.claude-opus-4-6-v1
  /-latest$/,
  /-(?:none|minimal|low|medium|high|xhigh|thinking)$/, // effort: gpt-5.1-codex-high
]

/** Ids to look for, the likeliest first: the one that was written, then with less and less of what agents add to it. */
export const spellingsOf = (written: string): string[] => {
  const spellings = [normalizedId(written)]
  let rest = written.toLowerCase()
  for (const addition of additions) {
    rest = rest.replace(addition, '')
    spellings.push(normalizedId(rest))
  }
  return [...new Set(spellings)].filter((spelling) => spelling !== '')
}
