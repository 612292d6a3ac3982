import { mkdir, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { UsageError } from '../../cli/exit.ts'
import { readJson, writePrivateFile } from '../private-files.ts'
import { addClaudeHooks, claudeHooksIn, removeClaudeHooks } from './claude-settings.ts'
import { type Hook, hookLine, type HookProgram, markOf } from './hook.ts'
import { rewriteFile, textOf } from './rewrite-file.ts'

/** What was put into the settings, so that it can be taken out byte for byte. */
const Piece = z.object({ container: z.array(z.string()), text: z.string() })
const Record = z.object({ pieces: z.array(Piece).readonly(), madeFolder: z.boolean(), madeFile: z.boolean() })
type Record = z.infer<typeof Record>

const MARK = markOf('claude-code')
const NEW_FILE = '{}\n'

const explain = (file: string, error: unknown): unknown =>
  error instanceof UsageError ? new UsageError(`${file}: ${error.message}`) : error

/** The hook in the settings of the user for Claude Code: `folder` is where they are, `state` where Tracebook remembers things. */
export const claudeHook = (folder: string, state: string): Hook => {
  const file = join(folder, 'settings.json')
  const record = join(state, 'hooks', 'claude-code.json')
  const readRecord = async (): Promise<Record | undefined> => Record.safeParse(await readJson(record)).data
  const isInstalled = async () => claudeHooksIn((await textOf(file)) ?? '', MARK).length > 0

  const uninstall = async () => {
    const text = await textOf(file)
    const found = await readRecord()
    if (text !== undefined && claudeHooksIn(text, MARK).length > 0) {
      const rest = removeClaudeHooks(text, MARK, found?.pieces ?? [])
      if (found?.madeFile && rest === NEW_FILE) await rm(file)
      else await rewriteFile(file, rest)
      if (found?.madeFolder) await rmdir(folder).catch(() => {})
    }
    await rm(record, { force: true })
    await rmdir(dirname(record)).catch(() => {})
  }
  const install = async (program: HookProgram) => {
    const command = hookLine('claude-code', program, true)
    const before = (await textOf(file)) ?? ''
    if (claudeHooksIn(before, MARK).filter((one) => one === command).length === 2) return false
    await uninstall()
    const [madeFolder, text] = [await mkdir(folder, { recursive: true }), await textOf(file)]
    const made = { madeFolder: madeFolder !== undefined, madeFile: text === undefined }
    const added = addClaudeHooks(text ?? NEW_FILE, command)
    await writePrivateFile(record, JSON.stringify({ pieces: added.pieces, ...made }))
    await rewriteFile(file, added.text)
    return true
  }
  return {
    file: () => Promise.resolve(file),
    isInstalled,
    install: (program) => install(program).catch((error: unknown) => Promise.reject(explain(file, error))),
    uninstall: async () => {
      const was = await isInstalled()
      await uninstall().catch((error: unknown) => Promise.reject(explain(file, error)))
      return was
    },
  }
}
