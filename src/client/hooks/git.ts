import { execFile } from 'node:child_process'
import type { EnvironmentVariables } from '../agents/agent.ts'

/** Variables by which git names its repository to a hook: with them, git commands in other repositories would use that one. */
export const withoutGitVariables = (env: EnvironmentVariables): EnvironmentVariables =>
  Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => !/^GIT_(?:DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR|OBJECT_DIRECTORY|EXEC_PATH)$/.test(name),
    ),
  )

/** What git prints, without the last line break; undefined if it fails. */
export const askGit = (args: readonly string[], cwd: string, env: EnvironmentVariables): Promise<string | undefined> =>
  new Promise((resolve) => {
    execFile('git', args, { cwd, env, encoding: 'utf8' }, (error, out) =>
      resolve(error ? undefined : out.replace(/\r?\n$/, '')),
    )
  })
