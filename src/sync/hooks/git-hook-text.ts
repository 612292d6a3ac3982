import { markedBlock } from './marked-block.ts'

const BEGIN = '# >>> tracebook hooks install git'
const END = '# <<< tracebook hooks'
const OWN_FILE = ' (it made this file)'
const OWN_FOLDER = ' (it made this file, and its folder)'
const ENDED_LINE = ' (it ended the line above)'

const SHELL = /^#!\s*(?:\S*\/)?(?:env\s+)?(?:sh|bash|dash|ash|ksh|zsh)(?:\s.*)?$/

const blockIn = (text: string) => markedBlock(text, BEGIN, END)

/** Whether a line of sh can be put into a hook. */
export const isShellScript = (text: string): boolean => SHELL.test(text.split('\n', 1)[0]!.trimEnd())

export const hasGitBlock = (text: string): boolean => blockIn(text) !== undefined

const block = (line: string, note: string): string => `${BEGIN}${note}\n${line}\n${END}\n`

/** A hook that does nothing else. */
export const newGitHook = (line: string, withFolder: boolean): string =>
  `#!/bin/sh\n${block(line, withFolder ? OWN_FOLDER : OWN_FILE)}`

/** Whether the folder of a hook was made with it. */
export const madeFolder = (text: string): boolean => text.includes(`${BEGIN}${OWN_FOLDER}\n`)

/** Puts a line of sh behind the first line of a hook. What stands there already still runs. */
export const addGitBlock = (text: string, line: string): string => {
  const end = text.indexOf('\n') + 1
  // A first line without an end gets one, and loses it again.
  if (end === 0) return `${text}\n${block(line, ENDED_LINE)}`
  return text.slice(0, end) + block(line, '') + text.slice(end)
}

/** The hook as it was before; undefined when there was none, and nothing was added to it since. */
export const removeGitBlock = (text: string): string | undefined => {
  const found = blockIn(text)
  if (!found) return text
  const { before, first: note, after } = found
  const isOwn = note.endsWith(OWN_FILE) || note.endsWith(OWN_FOLDER)
  if (isOwn && before === '#!/bin/sh\n' && after === '') return undefined
  const endedLine = note.endsWith(ENDED_LINE) && after === ''
  return (endedLine ? before.slice(0, -1) : before) + after
}
