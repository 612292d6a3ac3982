/** The beginnings of texts that the CLI inserts into user messages (README, rule 5). */
const INJECTED = [
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
/** Elements that IDEs put in front of what the user typed. */
const IDE_TAGS = ['ide_opened_file', 'ide_selection']

/** The trimmed content of the first `<tag>…</tag>`. */
const element = (text: string, tag: string): string | undefined => {
  const start = text.indexOf(`<${tag}>`)
  const end = start === -1 ? -1 : text.indexOf(`</${tag}>`, start)
  return end === -1 ? undefined : text.slice(start + tag.length + 2, end).trim()
}

const withoutIdeElements = (text: string): string => {
  for (let rest = text; ;) {
    const trimmed = rest.trimStart()
    const tag = IDE_TAGS.find((name) => trimmed.startsWith(`<${name}>`))
    const end = tag ? trimmed.indexOf(`</${tag}>`) : -1
    if (!tag || end === -1) return rest
    rest = trimmed.slice(end + tag.length + 3).trimStart()
  }
}

const slashCommand = (text: string): string | undefined => {
  const name = element(text, 'command-name') || element(text, 'command-message')
  return name && [`/${name.replace(/^\//, '')}`, element(text, 'command-args')].filter(Boolean).join(' ')
}

/**
 * The text that the user typed in one text block of a user line; undefined if the CLI wrote all of it. A slash command
 * becomes `/name args` (README, rule 5).
 */
export const typedText = (block: string): string | undefined => {
  const text = withoutIdeElements(block)
  const start = text.trimStart()
  if (start === '' || INJECTED.some((prefix) => start.startsWith(prefix))) return undefined
  if (start.startsWith('<command-name>') || start.startsWith('<command-message>')) return slashCommand(start) ?? text
  return text
}
