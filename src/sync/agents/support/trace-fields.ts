import type { TraceFields } from '../agent.ts'
import { withoutCredentials } from './git-remote.ts'

/** What was found of a session. */
type Found = {
  readonly [Key in Exclude<keyof TraceFields, 'agentId' | 'projectName'>]?: string | undefined
}

const lastFolder = (path: string): string | undefined => path.split(/[\\/]/).findLast((name) => name !== '')

/** The fields of a trace, of what was found: the project has the name of its folder, the remote loses its credentials. */
export const traceFieldsOf = (agentId: string, found: Found): TraceFields => {
  const projectName = found.projectPath === undefined ? undefined : lastFolder(found.projectPath)
  const gitRemoteUrl = found.gitRemoteUrl === undefined ? undefined : withoutCredentials(found.gitRemoteUrl)
  const fields = { ...found, projectName, gitRemoteUrl }
  return { agentId, ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) }
}
