import type { Origin } from '../upload/destination.ts'
import type { Visibility } from '../upload/upsert-trace.ts'
import type { ProjectRules } from './project-rules.ts'
import type { Rule, RuleSource } from './rule.ts'
import type { Trust } from './trust.ts'

/** Everything that decides the destination of a project's sessions. */
export type Known = {
  /** What the command line asks for. */
  readonly asked: Pick<Rule, 'namespace' | 'visibility'>
  /** In the order of precedence. */
  readonly sources: readonly RuleSource[]
  /** The namespace without any rule. */
  readonly loginNamespace: string
  /** Whether the user has agreed to a stranger's rule. */
  readonly isTrusted: (source: RuleSource) => boolean
}

/** A value, and what has set it. */
type Chosen<T> = { readonly value: T; readonly because: string }

/** Where the sessions of a project go. */
export type Decision =
  | { readonly is: 'never'; readonly why: string }
  | {
      readonly is: 'sent'
      readonly namespace: Chosen<string>
      /** The visibility of new traces. */
      readonly visibility: Chosen<Visibility>
      /** Whether the command line has set it: then that of traces that are there already as well. */
      readonly isAsked: boolean
      /** A stranger's rule that sends them to another namespace, to which the user has not agreed. */
      readonly untrusted: RuleSource | undefined
    }

/** Whether strangers' rules, or those of the user by their precedence, say that sessions are never sent. */
const neverOf = (sources: readonly RuleSource[]): string | undefined => {
  const own = sources.find(({ stranger, rule }) => !stranger && rule.never !== undefined)
  const all = [...(own ? [own] : []), ...sources.filter(({ stranger }) => stranger)]
  return all.find(({ rule }) => rule.never)?.place
}

const chooseNamespace = (sources: readonly RuleSource[], { asked, loginNamespace }: Known): Chosen<string> => {
  if (asked.namespace !== undefined) return { value: asked.namespace, because: '--namespace' }
  const found = sources.find(({ rule }) => rule.namespace !== undefined)
  if (!found) return { value: loginNamespace, because: 'the login' }
  return { value: found.rule.namespace!, because: found.place }
}

const chooseVisibility = ({ asked, sources }: Known): Chosen<Visibility> => {
  const found = sources.find(({ rule }) => rule.visibility !== undefined)
  const ruled = found && { value: found.rule.visibility!, because: found.place }
  const chosen =
    asked.visibility === undefined ? ruled : { value: asked.visibility, because: `--visibility ${asked.visibility}` }
  if (chosen?.value !== 'public') return chosen ?? { value: 'private', because: 'no rule says otherwise' }
  const limit = sources.find(({ stranger, rule }) => stranger && (rule.visibility ?? 'public') !== 'public')
  return limit ? { value: limit.rule.visibility!, because: limit.place } : chosen
}

/**
 * Where the sessions of a project go. The command line comes first, then the sources in their order, then the login. In a project's
 * own file, what restricts always holds: `never`, and a visibility that is not public. What gives more people access needs the user's
 * agreement.
 */
export const decide = (known: Known): Decision => {
  const { asked, sources, isTrusted } = known
  const never = neverOf(sources)
  if (never !== undefined) return { is: 'never', why: `never sent, says ${never}` }
  const namespace = chooseNamespace(sources, known)
  const trusted = sources.filter((source) => !source.stranger || isTrusted(source))
  const visibility = chooseVisibility(known)
  const isSame = chooseNamespace(trusted, known).value === namespace.value
  return {
    is: 'sent',
    namespace,
    visibility,
    isAsked: visibility.value === asked.visibility,
    untrusted: isSame ? undefined : sources.find(({ place }) => place === namespace.because),
  }
}

type Options = Pick<Known, 'asked' | 'loginNamespace'> & {
  /** Whether the user agrees to everything. */
  readonly yes: boolean
  readonly rules: ProjectRules
  readonly trust: Trust
}

/** What the rules say of a session. Throws UsageError for rules that cannot be used. */
export type DecisionFor = (origin: Pick<Origin, 'source' | 'files' | 'projectPath' | 'folders'>) => Promise<Decision>

/** Why a session is never sent: a rule excludes one of its files or folders, or the project of one of the folders is never sent. */
const neverIn = async (
  rules: ProjectRules,
  files: readonly string[],
  folders: readonly (string | undefined)[],
): Promise<string | undefined> => {
  for (const folder of folders) {
    for (const file of files) {
      const excluded = await rules.excludes(file, folder)
      if (excluded !== undefined) return `left out by ${excluded}`
    }
    const never = neverOf((await rules.of(folder)).sources)
    if (never !== undefined) return `never sent, says ${never}`
  }
  return undefined
}

/** What strangers' rules of further projects restrict of a session that has become public by other ones. */
const limitsOf = async (rules: ProjectRules, folders: readonly string[]): Promise<readonly RuleSource[]> => {
  const found = await Promise.all(folders.map((folder) => rules.of(folder)))
  return found
    .flatMap(({ sources }) => sources)
    .flatMap(({ stranger, place, rule: { visibility = 'public' } }) =>
      stranger && visibility !== 'public' ? [{ stranger, place, rule: { visibility } }] : [],
    )
}

export const newDecisions =
  ({ asked, loginNamespace, yes, rules, trust }: Options): DecisionFor =>
  async ({ source, files = [source], projectPath, folders = [] }) => {
    const others = folders.filter((folder) => folder !== projectPath)
    const never = await neverIn(rules, files, [projectPath, ...others])
    if (never !== undefined) return { is: 'never', why: never }
    const sources = [...(await rules.of(projectPath)).sources, ...(await limitsOf(rules, others))]
    const isNeeded = !yes && sources.some(({ stranger, rule }) => stranger && rule.namespace !== undefined)
    const isTrusted = isNeeded ? await trust.current() : () => yes
    return decide({ asked, sources, loginNamespace, isTrusted })
  }

/** Why a session is held, for the user. */
export const untrustedText = ({ place }: RuleSource, namespace: string): string =>
  `${place} sends it to the namespace ${namespace}, to which you have to agree`
