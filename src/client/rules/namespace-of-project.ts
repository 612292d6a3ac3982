import type { ProjectRules } from './project-rules.ts'
import type { RuleSource } from './rule.ts'
import type { Trust } from './trust.ts'

/** The namespace that the rules of a project name. */
type Named = {
  /** Undefined if they name none. */
  readonly namespace: string | undefined
  /** A stranger's rule that names one, to which the user has not agreed: it does not count. */
  readonly untrusted: RuleSource | undefined
}

/** The namespace to which the sessions of a folder go, for questions about its files. @throws UsageError for rules that cannot be used */
export const namespaceOfProject = async (rules: ProjectRules, trust: Trust, folder: string): Promise<Named> => {
  const naming = (await rules.of(folder)).sources.filter(({ rule }) => rule.namespace !== undefined)
  const isTrusted = naming.some(({ stranger }) => stranger) ? await trust.current() : () => true
  const counted = naming.find((source) => !source.stranger || isTrusted(source))
  const [first] = naming
  return { namespace: counted?.rule.namespace, untrusted: first === counted ? undefined : first }
}
