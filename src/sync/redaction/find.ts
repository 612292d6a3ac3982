import { findAssigned } from './assigned.ts'
import { findAuthorization } from './authorization.ts'
import { findEnvValues } from './env-file.ts'
import type { Finder, Finding } from './finding.ts'
import { findPrivateKeys } from './private-keys.ts'
import { newSecretlint } from './secretlint.ts'
import { findTokens } from './tokens.ts'
import { findUrlPasswords } from './url-passwords.ts'

/** These rules report a whole address, of which the password alone is secret. */
const wholeAddress: ReadonlySet<string> = new Set(['basicauth', 'database-connection-string'])

const isWithin = (inner: Finding, outer: Finding) => inner.start >= outer.start && inner.end <= outer.end

/** Findings in order, none of which overlap: of two that do, one is made, with the rule of the first that was found. */
const merged = (findings: readonly Finding[]): readonly Finding[] => {
  const narrow = findings.filter(
    (one) =>
      !wholeAddress.has(one.rule) ||
      !findings.some(({ rule, ...other }) => rule === 'url-password' && isWithin({ rule, ...other }, one)),
  )
  const result: Finding[] = []
  for (const one of narrow.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = result.at(-1)
    if (last && one.start < last.end) result[result.length - 1] = { ...last, end: Math.max(last.end, one.end) }
    else result.push(one)
  }
  return result
}

/** Finds the secrets of a text, in order, without overlaps. `isEnv`: the text is an environment file. */
export type FindSecrets = (text: string, isEnv?: boolean) => readonly Finding[]

/** The shortest secret that any rule finds in a text. */
const SHORTEST = 8

export const newFindSecrets = (): FindSecrets => {
  const finders: readonly Finder[] = [
    findTokens,
    findPrivateKeys,
    newSecretlint(),
    findUrlPasswords,
    findAuthorization,
    findAssigned,
  ]
  return (text, isEnv = false) => {
    if (text.length < SHORTEST) return []
    const found = finders.flatMap((find) => find(text))
    if (isEnv) found.push(...findEnvValues(text))
    return found.length > 0 ? merged(found) : []
  }
}
