import { join } from 'node:path'
import { addClaudeHooks, claudeHooksIn, removeClaudeHooks } from './claude-settings.ts'
import { editedFile } from './edited-file.ts'
import { type Hook, hookLine, markOf } from './hook.ts'

const MARK = markOf('claude-code')

/** The hook in the settings of the user for Claude Code: `folder` is where they are, `state` where Tracebook remembers things. */
export const claudeHook = (folder: string, state: string): Hook => {
  const file = join(folder, 'settings.json')
  const { isInstalled, install, uninstall } = editedFile(file, join(state, 'hooks', 'claude-code.json'), {
    empty: '{}\n',
    isIn: (text) => claudeHooksIn(text, MARK).length > 0,
    remove: (text, pieces) => removeClaudeHooks(text, MARK, pieces),
  })
  return {
    file: () => Promise.resolve(file),
    isInstalled,
    install: (program) => {
      const command = hookLine('claude-code', program, true)
      return install(
        (text) => addClaudeHooks(text, command),
        (text) => claudeHooksIn(text, MARK).filter((one) => one === command).length === 2,
      )
    },
    uninstall,
  }
}
