import { oneLine } from './shorten.ts'

/** Blocks that agents put into a user's message: none of it was typed. */
const inserted = new Set([
  'system-reminder',
  'local-command-stdout',
  'local-command-stderr',
  'local-command-caveat',
  'command-message',
  'command-contents',
  'bash-stdout',
  'bash-stderr',
  'task-notification',
  'ide_opened_file',
  'ide_selection',
  'environment_context',
  'user_instructions',
  'INSTRUCTIONS',
  'attached_files',
])
const opening = /<([\w-]+)(?:\s[^<>]*)?>/g

/** A block that is not closed goes on to the end. */
const withoutInserted = (text: string): string => {
  const kept: string[] = []
  let at = 0
  for (const { 0: tag, 1: name = '', index } of text.matchAll(opening)) {
    if (index < at || !inserted.has(name)) continue
    kept.push(text.slice(at, index))
    const close = text.indexOf(`</${name}>`, index + tag.length)
    if (close < 0) return [...kept, ''].join(' ')
    at = close + name.length + 3
  }
  return [...kept, text.slice(at)].join(' ')
}

const notes =
  /^(?:Caveat: The messages below were generated .*|This session is being continued from a previous conversation.*|# AGENTS\.md instructions for .*)$/gm
const marks = /\[(?:Request interrupted by user|Image|Pasted text)[^[\]]*\]/g
const fence = /(```|~~~)[\s\S]*?(?:\1|$)/g
const mention = /(^|[\s(])@(?:"([^"\n]+)"|([\w./~\\-]*[\w/~]))/g
const url = /\bhttps?:\/\/[^\s<>"')\]]+/g
const markup = /^[ \t]*(?:#{1,6}[ \t]+|[-*+>][ \t]+|\d+[.)][ \t]+)/gm

const MAX_INPUT = 20_000
const MAX_URL = 40

const shortUrl = (text: string): string => {
  if (!URL.canParse(text)) return text
  const { host, pathname } = new URL(text)
  const path = pathname.replace(/\/$/, '')
  const short = `${host}${path}`
  return short.length <= MAX_URL ? short : `${host}/…/${path.slice(path.lastIndexOf('/') + 1).slice(0, MAX_URL)}`
}

const baseName = (path: string) => {
  const whole = path.replace(/[/\\]$/, '')
  return whole.slice(Math.max(whole.lastIndexOf('/'), whole.lastIndexOf('\\')) + 1)
}

/** Mentions at the very beginning only say who or what is meant; further on they are words of the sentence. */
const withoutMentions = (text: string): string =>
  text
    .trimStart()
    .replace(/^(?:@(?:"[^"\n]+"|[\w./~\\-]*[\w/~])[\s,:]*)+(?=\S)/, '')
    .replace(
      mention,
      (_, before: string, quoted?: string, plain?: string) => `${before}${baseName(quoted ?? plain ?? '')}`,
    )

/** A slash command, as Claude Code records it: what was typed behind it, or its name when nothing was. */
export type Prompt = { readonly text: string; readonly command?: string | undefined }

const tagged = (text: string, tag: string): string | undefined => {
  const start = text.indexOf(`<${tag}>`)
  const end = start < 0 ? -1 : text.indexOf(`</${tag}>`, start)
  return end < 0 ? undefined : text.slice(start + tag.length + 2, end).trim()
}

const unwrapped = (text: string): Prompt => {
  const command = tagged(text, 'command-name')
  if (command !== undefined) return { command, text: tagged(text, 'command-args') ?? '' }
  const shell = tagged(text, 'bash-input')
  return shell === undefined ? { text } : { text: shell }
}

/** What a user typed, without what agents and editors wrap around it, on one line. */
export const cleanPrompt = (given: string): Prompt => {
  const { text, command } = unwrapped(withoutInserted(given.slice(0, MAX_INPUT)))
  const plain = text
    .replace(notes, ' ')
    .replace(marks, ' ')
    .replace(fence, ' ')
    .replace(url, shortUrl)
    .replace(markup, '')
  return { text: oneLine(withoutMentions(plain).replace(/\*\*|__|`/g, '')), command }
}
