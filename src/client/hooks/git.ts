import type { EnvironmentVariables } from '../agents/agent.ts'
import { runGit } from '../git/run-git.ts'

/** Variables by which git names its repository to a hook: with them, git commands in other repositories would use that one. */
export const withoutGitVariables = (env: EnvironmentVariables): EnvironmentVariables =>
  Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => !/^GIT_(?:DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR|OBJECT_DIRECTORY|EXEC_PATH)$/.test(name),
    ),
  )

/** What git prints, without the last line break; undefined if it fails. */
export const askGit = (args: readonly string[], cwd: string, env: EnvironmentVariables): Promise<string | undefined> =>
  runGit({ args, folder: cwd, env, keepsHooksPath: true }).then(
    (out) => out.replace(/\r?\n$/, ''),
    () => undefined,
  )
