import { nameInRemote } from './git-remote.ts'

const foldersIn = (path: string): readonly string[] => path.split(/[\\/]/).filter(Boolean)

/** The last folder of a path; undefined for a root. */
export const lastFolder = (path: string): string | undefined => foldersIn(path).at(-1)

/** Agents that keep the worktrees of a repository in a folder of its own: `<repository>/.claude/worktrees/<name>`. */
const IN_REPOSITORY = new Set(['.claude', '.gemini', '.qwen'])

/**
 * The repository of the worktree that begins at the folder `at`, by its place alone: `<repository>/.claude/worktrees/<name>`,
 * `.codex/worktrees/<id>/<repository>`, `.cursor/worktrees/<repository>/<id>`, `<repository>.worktrees/<branch>` and
 * `<repository>/.worktrees/<branch>`.
 */
const repositoryAt = (folders: readonly string[], at: number): string | undefined => {
  const [name, next] = [folders[at]!, folders[at + 1]]
  if (next === undefined) return undefined
  if (name.endsWith('.worktrees')) return name.slice(0, -'.worktrees'.length) || folders[at - 1]
  if (name !== 'worktrees') return undefined
  const agent = folders[at - 1] ?? ''
  if (IN_REPOSITORY.has(agent)) return folders[at - 2]
  const below = folders[at + 2]
  if (agent === '.codex') return below
  return agent === '.cursor' && below !== undefined ? next : undefined
}

/** The repository of the worktree in which a folder is, by its path; undefined for a folder in no known place of worktrees. */
export const repositoryOfWorktree = (path: string): string | undefined => {
  const folders = foldersIn(path)
  for (const at of folders.keys()) {
    const found = repositoryAt(folders, at)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * The name of a session's project as its file tells it: that of the repository, by the place of its worktree or by the remote, else that of the
 * folder. A folder that is still there tells more (`../../rules/in-repository.ts`).
 */
export const projectNameOf = (path: string | undefined, remote: string | undefined): string | undefined =>
  path === undefined
    ? undefined
    : (repositoryOfWorktree(path) ?? (remote === undefined ? undefined : nameInRemote(remote)) ?? lastFolder(path))
