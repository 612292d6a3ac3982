import type { Origin } from '../upload/destination.ts'
import { decide, type Decision, type Known } from './decide.ts'
import type { ProjectRules } from './project-rules.ts'
import type { RuleSource } from './rule.ts'
import type { Trust } from './trust.ts'

type Options = Pick<Known, 'asked' | 'loginNamespace'> & {
  /** Whether the user agrees to everything. */
  readonly yes: boolean
  readonly rules: ProjectRules
  readonly trust: Trust
}

/** What the rules say of a session. Throws UsageError for rules that cannot be used. */
export type DecisionFor = (origin: Pick<Origin, 'source' | 'projectPath'>) => Promise<Decision>

export const newDecisions =
  ({ asked, loginNamespace, yes, rules, trust }: Options): DecisionFor =>
  async ({ source, projectPath }) => {
    const excluded = await rules.excludes(source, projectPath)
    if (excluded !== undefined) return { is: 'never', why: `left out by ${excluded}` }
    const { sources } = await rules.of(projectPath)
    const isNeeded = !yes && sources.some(({ stranger, rule }) => stranger && rule.namespace !== undefined)
    const isTrusted = isNeeded ? await trust.current() : () => yes
    return decide({ asked, sources, loginNamespace, isTrusted })
  }

/** To be shown to the user. */
export const untrustedText = ({ place }: RuleSource, namespace: string): string =>
  `${place} sends it to the namespace ${namespace}, to which you have to agree`
