import { oneLine } from './shorten.ts'

/** Blocks that agents put into a user's message: none of it was typed. */
const inserted = [
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
]
const insertedBlock = new RegExp(`<(${inserted.join('|')})\\b[^>]*>[\\s\\S]*?(?:</\\1>|$)`, 'g')

const notes =
  /^(?:Caveat: The messages below were generated .*|This session is being continued from a previous conversation.*|# AGENTS\.md instructions for .*)$/gm
const marks = /\[(?:Request interrupted by user[^\]]*|Image[^\]]*|Pasted text[^\]]*)\]/g
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

const baseName = (path: string) => path.slice(path.search(/[^/\\]*[/\\]?$/)).replace(/[/\\]$/, '')

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

const tagged = (text: string, tag: string) => new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(text)?.[1]?.trim()

const unwrapped = (text: string): Prompt => {
  const command = tagged(text, 'command-name')
  if (command !== undefined) return { command, text: tagged(text, 'command-args') ?? '' }
  const shell = tagged(text, 'bash-input')
  return shell === undefined ? { text } : { text: shell }
}

/** What a user typed, without what agents and editors wrap around it, on one line. */
export const cleanPrompt = (given: string): Prompt => {
  const { text, command } = unwrapped(given.slice(0, MAX_INPUT).replace(insertedBlock, ' '))
  const plain = text
    .replace(notes, ' ')
    .replace(marks, ' ')
    .replace(fence, ' ')
    .replace(url, shortUrl)
    .replace(markup, '')
  return { text: oneLine(withoutMentions(plain).replace(/\*\*|__|`/g, '')), command }
}
