import { dirname } from 'node:path'
import type { EnvironmentVariables } from '../agents/agent.ts'
import { runGit } from './run-git.ts'

/** One setting; of several with one name the last one wins. `value` is undefined for one without `=`. */
export type GitSetting = {
  readonly isLocal: boolean
  /** In lower case but for the part between its dots. */
  readonly name: string
  readonly value: string | undefined
}

const TIME_LIMIT_MS = 5_000
const MAX_OUTPUT_BYTES = 4 << 20

const settingOf = (text: string, isLocal: boolean): GitSetting => {
  const end = text.indexOf('\n')
  if (end === -1) return { isLocal, name: text, value: undefined }
  return { isLocal, name: text.slice(0, end), value: text.slice(end + 1) }
}

/**
 * The settings in the repository with this root, of all files; without a root those of the user and of the machine. Settings that are made for this one call
 * of git are left out. @throws GitFailed
 */
export const readSettings = async (
  env: EnvironmentVariables,
  root: string | undefined,
): Promise<readonly GitSetting[]> => {
  const where = root === undefined ? {} : { folder: root, ceiling: dirname(root) }
  const args = ['config', '--list', '--null', '--show-scope']
  const output = await runGit({ args, env, ...where, timeoutMs: TIME_LIMIT_MS, maxBytes: MAX_OUTPUT_BYTES })
  const fields = output.split('\0')
  const settings: GitSetting[] = []
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const scope = fields[i]!
    if (scope !== 'command') settings.push(settingOf(fields[i + 1]!, scope === 'local' || scope === 'worktree'))
  }
  return settings
}
