/** What the CLI puts into the user's place, by its beginning (README, rule 5). */
const injected = [
  '<local-command-caveat>',
  '<local-command-stdout>',
  '<local-command-stderr>',
  '<bash-stdout>',
  '<bash-stderr>',
  '<system-reminder>',
  '<task-notification>',
  '[Request interrupted',
  'Stop hook feedback:',
]
const leading = ['ide_opened_file', 'ide_selection']

/** The inside of the first `<tag>…</tag>`, trimmed. */
const element = (text: string, tag: string): string | undefined => {
  const start = text.indexOf(`<${tag}>`)
  const end = start === -1 ? -1 : text.indexOf(`</${tag}>`, start)
  return end === -1 ? undefined : text.slice(start + tag.length + 2, end).trim()
}

const withoutIde = (text: string): string => {
  for (let left = text; ;) {
    const rest = left.trimStart()
    const tag = leading.find((name) => rest.startsWith(`<${name}>`))
    const end = tag ? rest.indexOf(`</${tag}>`) : -1
    if (!tag || end === -1) return left
    left = rest.slice(end + tag.length + 3).trimStart()
  }
}

const slashCommand = (text: string): string | undefined => {
  const name = element(text, 'command-name') || element(text, 'command-message')
  return name && [`/${name.replace(/^\//, '')}`, element(text, 'command-args')].filter(Boolean).join(' ')
}

/**
 * What the user typed of one text block of a user line; undefined when the CLI wrote all of it. A slash command becomes
 * `/name args` (README, rule 5).
 */
export const typedText = (block: string): string | undefined => {
  const text = withoutIde(block)
  const start = text.trimStart()
  if (start === '' || injected.some((mark) => start.startsWith(mark))) return undefined
  if (start.startsWith('<command-name>') || start.startsWith('<command-message>')) return slashCommand(start) ?? text
  return text
}
