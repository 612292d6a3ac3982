import type { Finder, Finding } from './finding.ts'

/** A kind of secret that is told by how it looks. */
type Token = { readonly rule: string; readonly pattern: RegExp }

/**
 * Secrets with a form of their own that secretlint's recommended rules do not cover, or cover too narrowly. The first group,
 * where there is one, is what is secret.
 */
const tokens: readonly Token[] = [
  { rule: 'tracebook', pattern: /(?<![A-Za-z0-9_])tb_[A-Za-z0-9_-]{32,}/g },
  {
    rule: 'jwt',
    pattern: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}/g,
  },
  {
    rule: 'aws',
    pattern: /(?<![A-Za-z0-9])A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{9}(?![A-Z0-9]{0,6}EXAMPLE)[A-Z0-9]{7}(?![A-Za-z0-9])/g,
  },
  {
    rule: 'aws',
    pattern: /aws_?(?:session_?token|secret(?:_?access)?_?key)["']?\s{0,8}[:=]\s{0,8}["']?([A-Za-z0-9/+=]{40,})/gi,
  },
  { rule: 'azure', pattern: /AccountKey=([A-Za-z0-9+/]{86}==)/g },
  { rule: 'azure', pattern: /[?&]sig=([A-Za-z0-9%+/=]{40,})/g },
  { rule: 'google', pattern: /(?<![A-Za-z0-9_-])AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g },
  { rule: 'google', pattern: /GOCSPX-[A-Za-z0-9_-]{28}/g },
  { rule: 'google', pattern: /(?<![A-Za-z0-9_])ya29\.[A-Za-z0-9_-]{20,}/g },
  {
    rule: 'openai',
    pattern: /(?<![A-Za-z0-9_-])sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{0,}T3BlbkFJ[A-Za-z0-9_-]{16,}/g,
  },
  { rule: 'openai', pattern: /(?<![A-Za-z0-9_-])sk-[A-Za-z0-9]{48}(?![A-Za-z0-9_-])/g },
  { rule: 'anthropic', pattern: /(?<![A-Za-z0-9_-])sk-ant-[a-z]{2,8}[0-9]{2}-[A-Za-z0-9_-]{32,}/g },
  { rule: 'openrouter', pattern: /(?<![A-Za-z0-9_-])sk-or-v1-[0-9a-f]{64}/g },
  { rule: 'xai', pattern: /(?<![A-Za-z0-9_-])xai-[A-Za-z0-9]{60,}/g },
  { rule: 'perplexity', pattern: /(?<![A-Za-z0-9_-])pplx-[A-Za-z0-9]{40,64}/g },
  { rule: 'replicate', pattern: /(?<![A-Za-z0-9_])r8_[A-Za-z0-9]{37}/g },
  { rule: 'huggingface', pattern: /(?<![A-Za-z0-9_])hf_[A-Za-z0-9]{34,40}(?![A-Za-z0-9_])/g },
  { rule: 'github', pattern: /(?<![A-Za-z0-9_])gh[pousr]_[A-Za-z0-9]{36,}/g },
  { rule: 'github', pattern: /(?<![A-Za-z0-9_])github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}/g },
  { rule: 'gitlab', pattern: /(?<![A-Za-z0-9_])gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|imt|oas)-[A-Za-z0-9_-]{20,}/g },
  { rule: 'atlassian', pattern: /(?<![A-Za-z0-9_])(?:ATATT3|ATCTT3|ATBB)[A-Za-z0-9_=-]{28,}/g },
  { rule: 'pypi', pattern: /pypi-Ag[A-Za-z0-9_-]{60,}/g },
  { rule: 'rubygems', pattern: /rubygems_[a-f0-9]{48}/g },
  { rule: 'slack', pattern: /(?<![A-Za-z0-9_])xox[abcdeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}/g },
  {
    rule: 'discord',
    pattern: /https:\/\/(?:ptb\.|canary\.)?discord(?:app)?\.com\/api\/webhooks\/[0-9]{15,22}\/[A-Za-z0-9_-]{60,80}/g,
  },
  {
    rule: 'discord',
    pattern: /(?<![A-Za-z0-9_.-])[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])/g,
  },
  { rule: 'telegram', pattern: /(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])/g },
  { rule: 'stripe', pattern: /(?<![A-Za-z0-9_])[sr]k_(?:live|test)_[A-Za-z0-9]{16,}/g },
  { rule: 'stripe', pattern: /(?<![A-Za-z0-9_])whsec_[A-Za-z0-9+/=]{32,}/g },
  { rule: 'twilio', pattern: /(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])/g },
  { rule: 'mailgun', pattern: /(?<![A-Za-z0-9-])key-[0-9a-f]{32}(?![A-Za-z0-9])/g },
  { rule: 'mailchimp', pattern: /(?<![A-Za-z0-9])[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9])/g },
  { rule: 'square', pattern: /(?<![A-Za-z0-9_])sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,64}/g },
  { rule: 'digitalocean', pattern: /(?<![A-Za-z0-9_])do[opr]_v1_[a-f0-9]{64}/g },
  { rule: 'heroku', pattern: /HRKU-[A-Za-z0-9_-]{36,64}/g },
  { rule: 'fly', pattern: /FlyV1 (fm[0-9]_[A-Za-z0-9+/=,_]{40,})/g },
  { rule: 'netlify', pattern: /(?<![A-Za-z0-9_])nfp_[A-Za-z0-9]{36,64}/g },
  { rule: 'supabase', pattern: /(?<![A-Za-z0-9_])(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,64})/g },
  { rule: 'planetscale', pattern: /pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,64}/g },
  { rule: 'doppler', pattern: /(?<![A-Za-z0-9_.])dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,80}/g },
  { rule: 'newrelic', pattern: /NRAK-[A-Z0-9]{27}/g },
  { rule: 'sentry', pattern: /sntr(?:ys_eyJ[A-Za-z0-9_=+/-]{40,}|yu_[a-f0-9]{64})/g },
  { rule: 'postman', pattern: /PMAK-[a-f0-9]{24}-[a-f0-9]{34}/g },
  { rule: 'pulumi', pattern: /(?<![A-Za-z0-9_-])pul-[a-f0-9]{40}(?![A-Za-z0-9])/g },
  { rule: 'terraform', pattern: /(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,70}/g },
  { rule: 'age', pattern: /AGE-SECRET-KEY-1[A-Z0-9]{58}/g },
  { rule: 'airtable', pattern: /(?<![A-Za-z0-9])pat[A-Za-z0-9]{14}\.[a-f0-9]{64}/g },
  { rule: 'notion', pattern: /(?<![A-Za-z0-9_])secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])/g },
]

const findToken = (text: string, { rule, pattern }: Token): Finding[] => {
  const found: Finding[] = []
  for (const match of text.matchAll(pattern)) {
    const secret = match[1] ?? match[0]
    const start = match.index + match[0].indexOf(secret)
    found.push({ rule, start, end: start + secret.length })
  }
  return found
}

/** Of which a text must contain something for any of them, so that most texts are looked at once. */
const hint =
  /tb_|eyJ|A(?:KIA|SIA|BIA|CCA)[A-Z0-9]|[aA][wW][sS]_?[sS][eE]|AccountKey=|[?&]sig=|AIza|GOCSPX|ya29|sk-|xai-|pplx-|r8_|hf_|gh[pousr]_|github_pat|gl[a-z]{2,5}-|AT(?:ATT|CTT|BB)|pypi-A|rubygems_|xox|\/api\/webhooks\/|:AA|[sr]k_(?:live|test)|whsec_|SK[0-9a-f]|key-[0-9a-f]|-us[0-9]|sq0|do[opr]_v1|HRKU|FlyV1|nfp_|sb(?:p_|_secret)|pscale_|dp\.[a-z]|NRAK|sntr|PMAK|pul-|atlasv1|AGE-SECRET|secret_/
/** Of the two that have little of their own: the dots are. */
const dotted = /(?<![A-Za-z0-9])pat[A-Za-z0-9]{14}\.[a-f0-9]|\.[\w-]{6}\.[\w-]/

/** Finds secrets that have a form of their own. */
export const findTokens: Finder = (text) =>
  hint.test(text) || dotted.test(text) ? tokens.flatMap((token) => findToken(text, token)) : []
