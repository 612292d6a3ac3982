import { existsSync, lstatSync } from 'node:fs'
import { chmod, mkdir, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { shellWord } from '../shell-word.ts'
import { addGitBlock, hasGitBlock, isShellScript, madeFolder, newGitHook, removeGitBlock } from './git-hook-text.ts'
import { rewriteFile, textOf } from './rewrite-file.ts'

/** The one that runs after a commit, which cannot stop it. */
export const GIT_HOOK = 'post-commit'

/** Where a hook goes that is no script of a shell, or is a link. */
const movedFrom = (file: string): string => `${file}.before-tracebook`

/** The lines of a hook that stands in for one which was moved away. */
const standIn = (file: string, line: string): string =>
  `${addGitBlock('#!/bin/sh\n', line)}exec ${shellWord(movedFrom(file))} "$@"\n`

const isLink = (file: string): boolean => lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true

export const hasGitHook = async (file: string): Promise<boolean> => hasGitBlock((await textOf(file)) ?? '')

/** Puts a line of sh into a hook of git, which may be there and go on as it is. False when the very line is there. */
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

/** Takes it out again: the hook is as it was, byte for byte. False when there was none. */
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
