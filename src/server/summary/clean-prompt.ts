import { toOneLine } from './shorten.ts'

/** Tags of blocks that agents insert into a user's message, and that the user has not typed. */
const INSERTED_TAGS = new Set([
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
const OPENING_TAG = /<([\w-]+)(?:\s[^<>]*)?>/g

/** A block that is not closed extends to the end. */
const removeInserted = (text: string): string => {
  const kept: string[] = []
  let at = 0
  for (const { 0: tag, 1: name = '', index } of text.matchAll(OPENING_TAG)) {
    if (index < at || !INSERTED_TAGS.has(name)) continue
    kept.push(text.slice(at, index))
    const close = text.indexOf(`</${name}>`, index + tag.length)
    if (close < 0) return [...kept, ''].join(' ')
    at = close + name.length + 3
  }
  return [...kept, text.slice(at)].join(' ')
}

const NOTES =
  /^(?:Caveat: The messages below were generated .*|This session is being continued from a previous conversation.*|# AGENTS\.md instructions for .*)$/gm
const MARKS = /\[(?:Request interrupted by user|Image|Pasted text)[^[\]]*\]/g
const FENCE = /(```|~~~)[\s\S]*?(?:\1|$)/g
const MENTION = /(^|[\s(])@(?:"([^"\n]+)"|([\w./~\\-]*[\w/~]))/g
const URLS = /\bhttps?:\/\/[^\s<>"')\]]+/g
const MARKUP = /^[ \t]*(?:#{1,6}[ \t]+|[-*+>][ \t]+|\d+[.)][ \t]+)/gm

const MAX_INPUT = 20_000
const MAX_URL = 40

const shortenUrl = (text: string): string => {
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

/** Removes mentions at the beginning, which only name the context. Others are parts of sentences, and become file names. */
const shortenMentions = (text: string): string =>
  text
    .trimStart()
    .replace(/^(?:@(?:"[^"\n]+"|[\w./~\\-]*[\w/~])[\s,:]*)+(?=\S)/, '')
    .replace(
      MENTION,
      (_, before: string, quoted?: string, plain?: string) => `${before}${baseName(quoted ?? plain ?? '')}`,
    )

/** `command` is the name of a slash command; `text` then has its arguments. */
type Prompt = { readonly text: string; readonly command?: string | undefined }

const contentOf = (text: string, tag: string): string | undefined => {
  const start = text.indexOf(`<${tag}>`)
  const end = start < 0 ? -1 : text.indexOf(`</${tag}>`, start)
  return end < 0 ? undefined : text.slice(start + tag.length + 2, end).trim()
}

const unwrapCommand = (text: string): Prompt => {
  const command = contentOf(text, 'command-name')
  if (command !== undefined) return { command, text: contentOf(text, 'command-args') ?? '' }
  const shell = contentOf(text, 'bash-input')
  return shell === undefined ? { text } : { text: shell }
}

/** The text that the user typed, on one line, without additions of agents and editors. */
export const cleanPrompt = (raw: string): Prompt => {
  const { text, command } = unwrapCommand(removeInserted(raw.slice(0, MAX_INPUT)))
  const plain = text
    .replace(NOTES, ' ')
    .replace(MARKS, ' ')
    .replace(FENCE, ' ')
    .replace(URLS, shortenUrl)
    .replace(MARKUP, '')
  return { text: toOneLine(shortenMentions(plain).replace(/\*\*|__|`/g, '')), command }
}
