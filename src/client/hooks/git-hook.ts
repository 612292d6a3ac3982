import { existsSync, lstatSync } from 'node:fs'
import { chmod, mkdir, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { shellWord } from '../../base/escape.ts'
import { rewriteFile, textOf } from './rewrite-file.ts'

/** A block of whole lines in a text: the text before it, its first line, and the text after it. */
export type MarkedBlock = { readonly before: string; readonly first: string; readonly after: string }

/** The index of the first line that begins with `start`; -1 if there is none. */
const lineWith = (text: string, start: string): number => {
  if (text.startsWith(start)) return 0
  const index = text.indexOf(`\n${start}`)
  return index < 0 ? -1 : index + 1
}

/** The first block that begins with a line that starts with `begin`, and ends with the line `end`. Undefined without one. */
export const markedBlock = (text: string, begin: string, end: string): MarkedBlock | undefined => {
  const from = lineWith(text, begin)
  const last = from < 0 ? -1 : text.indexOf(`\n${end}\n`, from)
  if (last < 0) return undefined
  return {
    before: text.slice(0, from),
    first: text.slice(from, text.indexOf('\n', from)),
    after: text.slice(last + end.length + 2),
  }
}

const BEGIN = '# >>> tracebook hooks install git'
const END = '# <<< tracebook hooks'
const OWN_FILE = ' (it made this file)'
const OWN_FOLDER = ' (it made this file, and its folder)'
const ENDED_LINE = ' (it ended the line above)'

const SHELL = /^#!\s*(?:\S*\/)?(?:env\s+)?(?:sh|bash|dash|ash|ksh|zsh)(?:\s.*)?$/

const blockIn = (text: string) => markedBlock(text, BEGIN, END)

/** Whether a line of sh can be put into a hook. */
const isShellScript = (text: string): boolean => SHELL.test(text.split('\n', 1)[0]!.trimEnd())

const hasGitBlock = (text: string): boolean => blockIn(text) !== undefined

const block = (line: string, note: string): string => `${BEGIN}${note}\n${line}\n${END}\n`

/** A hook that does nothing else. */
const newGitHook = (line: string, withFolder: boolean): string =>
  `#!/bin/sh\n${block(line, withFolder ? OWN_FOLDER : OWN_FILE)}`

/** Whether the folder of a hook was made with it. */
const madeFolder = (text: string): boolean => text.includes(`${BEGIN}${OWN_FOLDER}\n`)

/** Inserts a line of sh after the first line of a hook. The rest of the hook still runs. */
const addGitBlock = (text: string, line: string): string => {
  const end = text.indexOf('\n') + 1
  // A first line without an end gets one, and loses it again.
  if (end === 0) return `${text}\n${block(line, ENDED_LINE)}`
  return text.slice(0, end) + block(line, '') + text.slice(end)
}

/** The hook as it was before; undefined if there was none, and nothing was added to it since. */
const removeGitBlock = (text: string): string | undefined => {
  const found = blockIn(text)
  if (!found) return text
  const { before, first: note, after } = found
  const isOwn = note.endsWith(OWN_FILE) || note.endsWith(OWN_FOLDER)
  if (isOwn && before === '#!/bin/sh\n' && after === '') return undefined
  const endedLine = note.endsWith(ENDED_LINE) && after === ''
  return (endedLine ? before.slice(0, -1) : before) + after
}

/** The hook that runs after a commit, and so cannot prevent it. */
export const GIT_HOOK = 'post-commit'

/** The new place of an existing hook that is not a shell script, or is a link. */
const movedFrom = (file: string): string => `${file}.before-tracebook`

/** The text of a hook that replaces one which was moved away, and runs it. */
const standIn = (file: string, line: string): string =>
  `${addGitBlock('#!/bin/sh\n', line)}exec ${shellWord(movedFrom(file))} "$@"\n`

const isLink = (file: string): boolean => lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true

export const hasGitHook = async (file: string): Promise<boolean> => hasGitBlock((await textOf(file)) ?? '')

/** Inserts a line of sh into a hook of git, which may exist and keeps its other lines. Returns false if it has exactly this line. */
export const addGitHook = async (file: string, line: string): Promise<boolean> => {
  if ((await textOf(file))?.includes(`\n${line}\n`)) return false
  await removeGitHook(file)
  const made = await mkdir(dirname(file), { recursive: true })
  const text = await textOf(file)
  if (text === undefined) {
    await rewriteFile(file, newGitHook(line, made !== undefined), 0o755)
    return true
  }
  if (isShellScript(text) && !isLink(file)) {
    await rewriteFile(file, addGitBlock(text, line))
    return true
  }
  await rename(file, movedFrom(file))
  await rewriteFile(file, standIn(file, line), 0o755)
  await chmod(file, 0o755)
  return true
}

/** Removes the line: the hook is as it was, byte for byte. Returns false if there was none. */
export const removeGitHook = async (file: string): Promise<boolean> => {
  const text = await textOf(file)
  if (text === undefined || !hasGitBlock(text)) return false
  const rest = removeGitBlock(text)
  const isStandIn = rest === `#!/bin/sh\nexec ${shellWord(movedFrom(file))} "$@"\n`
  if (isStandIn && existsSync(movedFrom(file))) await rename(movedFrom(file), file)
  else if (rest !== undefined) await rewriteFile(file, rest)
  else {
    await rm(file)
    if (madeFolder(text)) await rmdir(dirname(file)).catch(() => {})
  }
  return true
}

export const hookIn = (folder: string): string => join(folder, GIT_HOOK)
