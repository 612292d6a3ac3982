import type { SessionFields } from '../agents/agent.ts'
import { withoutCredentials } from '../agents/support/git-remote.ts'
import type { GitSetting } from './git-config.ts'
import type { ProjectRules } from './project-rules.ts'

const REMOTE = /^remote\.(.+)\.url$/s

/** The address of `origin`, else that of the only remote. As the repository has it, without credentials. */
const remoteOf = (settings: readonly GitSetting[]): string | undefined => {
  const remotes = new Map<string, string>()
  for (const { isLocal, name, value } of settings) {
    const remote = REMOTE.exec(name)?.[1]
    // Of several addresses git fetches from the first one.
    if (isLocal && remote !== undefined && value && !remotes.has(remote)) remotes.set(remote, value)
  }
  const url = remotes.get('origin') ?? (remotes.size === 1 ? [...remotes.values()][0] : undefined)
  return url === undefined ? undefined : withoutCredentials(url)
}

/**
 * A trace's fields with the remote of its project's repository, where the agent did not store one. A branch and a commit are
 * the session's own only: those of the repository today need not be those that the agent worked on.
 */
export const withRemote = async (fields: SessionFields, rules: ProjectRules): Promise<SessionFields> => {
  const { projectPath, gitRemoteUrl } = fields
  if (projectPath === undefined || gitRemoteUrl !== undefined) return fields
  const { place } = await rules.of(projectPath)
  const remote = place?.repository && remoteOf(await rules.git().settings(place.repository))
  return remote === undefined ? fields : { ...fields, gitRemoteUrl: remote }
}
