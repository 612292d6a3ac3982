import { UsageError } from '../../cli/exit.ts'
import type { GitSetting } from './git-config.ts'
import { Rule, type RuleSource } from './rule.ts'

/** A truth value as git takes it; undefined for another text. */
const booleanOf = (value: string | undefined): boolean | undefined => {
  if (value === undefined || /^(?:true|yes|on|0*[1-9]\d*)$/i.test(value)) return true
  return /^(?:false|no|off|0*)$/i.test(value) ? false : undefined
}

/** The rule of some settings `tracebook.*`: of each name the last one counts, an empty one takes back what was before. */
const ruleOf = (settings: readonly GitSetting[], place: string): Rule => {
  const last = new Map(settings.map(({ name, value }) => [name.slice('tracebook.'.length), value]))
  const textOf = (name: string) => last.get(name)?.trim() || undefined
  const rule = {
    ...(textOf('namespace') === undefined ? {} : { namespace: textOf('namespace') }),
    ...(textOf('visibility') === undefined ? {} : { visibility: textOf('visibility') }),
    ...(last.has('never') ? { never: booleanOf(last.get('never')) ?? last.get('never') } : {}),
  }
  const { data, error } = Rule.safeParse(rule)
  const [issue] = error?.issues ?? []
  if (issue) throw new UsageError(`${place}: tracebook.${issue.path.join('.')}: ${issue.message}`)
  return data!
}

/** The rules of git's settings. Throws UsageError for a value that is none. */
export const gitRules = (
  settings: readonly GitSetting[],
  root: string | undefined,
): { readonly local: RuleSource; readonly global: RuleSource } => {
  const [local, global] = [`git config of ${root}`, 'git config --global']
  return {
    local: {
      place: local,
      rule: ruleOf(
        settings.filter(({ isLocal }) => isLocal),
        local,
      ),
    },
    global: {
      place: global,
      rule: ruleOf(
        settings.filter(({ isLocal }) => !isLocal),
        global,
      ),
    },
  }
}
