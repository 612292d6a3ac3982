import { rules } from '@secretlint/secretlint-rule-preset-recommend'
import type { SecretLintRuleContext, SecretLintSourceCode } from '@secretlint/types'
import type { Finder, Finding } from './finding.ts'

const PREFIX = '@secretlint/secretlint-rule-'

/**
 * What a text must contain for any of the rules to find something, so that they need not look at most texts. `gcp` takes whole
 * files only, which a message is not. To be extended with each rule that an update brings: a test holds the list.
 */
const hint =
  /access_?key|npm_|_authToken|x-oauth-basic|xox|xapp|hooks\.slack|sk-|gsk_|hf_|lin_api|ntn_|PRIVATE KEY|SG\.|shp|k_(?:live|test)_|gh[a-z]_|github_pat|glpat|gl(?:c|sa)_|ops_|mongodb|mysql|postgres|hv[sbr]\.|vc[a-z]_|dapi|dckr_pat|figd_|cf[a-z]{1,3}_|tskey/i
/** The beginning of an address with a password. */
const credentials = /:\/\/[-\w]+:/

/** A comment in a text must not switch off what is found in it. */
export const scanners = rules.filter(({ meta }) => meta.id !== `${PREFIX}filter-comments`)

/** secretlint's recommended rules. Its own runner is not used: it sets every rule up anew for each text. */
export const newSecretlint = (): Finder => {
  let findings: Finding[] = []
  const all = scanners.map((rule) => {
    const name = rule.meta.id.slice(PREFIX.length)
    const context: SecretLintRuleContext = {
      sharedOptions: {},
      createTranslator: () => () => ({ message: '', messageId: '' }) as never,
      report: ({ range: [start, end] }) => void findings.push({ rule: name, start, end }),
      ignore: () => {},
    }
    return rule.create(context, {}).file
  })
  return (text) => {
    if (!hint.test(text) && !credentials.test(text)) return []
    findings = []
    const source = { content: text, contentType: 'text', ext: '' } as unknown as SecretLintSourceCode
    for (const look of all) void look?.(source)
    return findings
  }
}
