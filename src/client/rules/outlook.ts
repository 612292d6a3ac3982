import { errorMessage } from '../../cli/exit.ts'
import type { StoredSession } from '../agents/agent.ts'
import type { Ruled } from '../overview.ts'
import type { SyncState } from '../state/sync-state.ts'
import { newDecisions, untrustedText } from './decide.ts'
import { newProjectRules, type RulesFolders } from './project-rules.ts'
import { openTrust } from './trust.ts'

type Options = Omit<RulesFolders, 'remembers'> & {
  readonly server: string
  readonly loginNamespace: string
  readonly origins: Pick<SyncState, 'originOf'>
}

/**
 * Whether rules keep a session from the namespace of the login, and why. The session is not read: before its first sync its project is not
 * known, and only rules for its files count. Throws UsageError if the user's rules cannot be used.
 */
export const openOutlook = async (
  options: Options,
): Promise<(session: Pick<StoredSession, 'source' | 'files'>) => Promise<Omit<Ruled, 'sessions'> | undefined>> => {
  const { config, server, loginNamespace, origins } = options
  const rules = newProjectRules({ ...options, remembers: false })
  await rules.of(undefined)
  const decisionFor = newDecisions({
    asked: {},
    yes: false,
    loginNamespace,
    rules,
    trust: openTrust(config, server),
  })
  return async ({ source, files }) => {
    const projectPath = origins.originOf(source)?.projectPath
    try {
      const decision = await decisionFor({ source, files: files.map(({ path }) => path), projectPath })
      if (decision.is === 'never') return { status: 'excluded', why: decision.why }
      const { namespace, untrusted } = decision
      if (untrusted) return { status: 'held', why: untrustedText(untrusted, namespace.value) }
      if (namespace.value === loginNamespace) return undefined
      return { status: 'elsewhere', why: `${namespace.because} sends it to the namespace ${namespace.value}` }
    } catch (error) {
      return { status: 'failed', why: errorMessage(error) }
    }
  }
}
