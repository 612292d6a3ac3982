import type { Session, SessionFields } from '../agents/agent.ts'
import { withoutCredentials } from '../agents/support/git-remote.ts'
import { lastFolder } from '../agents/support/project-name.ts'
import type { GitSetting } from '../git/settings.ts'
import type { ProjectRules } from './project-rules.ts'
import type { Place } from './repository.ts'

const REMOTE = /^remote\.(.+)\.url$/s

/** The address of `origin`, else that of the only remote. As the repository has it, without credentials. */
const remoteIn = (settings: readonly GitSetting[]): string | undefined => {
  const remotes = new Map<string, string>()
  for (const { isLocal, name, value } of settings) {
    const remote = REMOTE.exec(name)?.[1]
    // Of several addresses git fetches from the first one.
    if (isLocal && remote !== undefined && value && !remotes.has(remote)) remotes.set(remote, value)
  }
  const url = remotes.get('origin') ?? (remotes.size === 1 ? [...remotes.values()][0] : undefined)
  return url === undefined ? undefined : withoutCredentials(url)
}

/** A trace's fields, and which of them only takes the place of one that is not known any more. */
export type Completed = Pick<Session, 'trace' | 'standIns'>

type Found = { readonly [Name in 'projectName' | 'gitRemoteUrl' | 'gitBranch' | 'gitRef']?: string | undefined }

/** What the repository of a session tells. A branch and a commit are known as long as its folder is there. */
const found = async (
  fields: SessionFields,
  place: Place,
  rules: ProjectRules,
  at: number | undefined,
): Promise<Found> => {
  const { repository, exists, project } = place
  if (!repository || project === undefined) return {}
  const remote = fields.gitRemoteUrl ?? remoteIn(await rules.git().settings(repository))
  const head = exists ? (await rules.headOf(repository))(at) : undefined
  return { projectName: project, gitRemoteUrl: remote, gitBranch: head?.branch, gitRef: head?.commit }
}

/** Whether a project is named after its folder alone, which is gone: while it was there it may have told more. */
const isStandIn = ({ projectPath = '', projectName }: SessionFields, place: Place | undefined): boolean =>
  place?.exists !== true && place?.repository === undefined && projectName === lastFolder(projectPath)

/**
 * A trace's fields with what the repository of its project tells: the project is the repository, also of a session in one of its worktrees or
 * folders; remote, branch and commit are added where the agent did not store them. `at` is when the session was last written, in milliseconds, if that
 * is known.
 */
export const inRepository = async (
  fields: SessionFields,
  at: number | undefined,
  rules: ProjectRules,
): Promise<Completed> => {
  const { projectPath } = fields
  if (projectPath === undefined) return { trace: fields }
  const { place } = await rules.of(projectPath)
  const { projectName = fields.projectName, ...added } = place ? await found(fields, place, rules, at) : {}
  const known = Object.entries({ ...added, ...fields, projectName }).filter(([, value]) => value !== undefined)
  const trace = { ...fields, ...Object.fromEntries(known) }
  return isStandIn(trace, place) ? { trace, standIns: new Set(['projectName']) } : { trace }
}
