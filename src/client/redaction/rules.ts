import { endOfRun, findNamed, type Range } from './named-values.ts'
import { nameWords } from './names.ts'
import { isPlaceholder, isSecretValue, isWordy } from './values.ts'

/** A secret in a text, and the rule that found it. */
export type Finding = Range & { readonly rule: string }

/** Finds secrets around one of the rule's keywords, which is at `at`. */
type Look = (text: string, at: number) => Range | readonly Range[] | undefined

/** A kind of secret, which is replaced by `[redacted:<rule>]`. */
export type Rule = {
  readonly rule: string
  /** In lower case. `look` is called where one of them occurs in a text, in any case. */
  readonly keywords: readonly string[]
  readonly look: Look
}

type FormOptions = {
  /** Whether a match is a secret. */
  readonly isSecret?: (secret: string) => boolean
  /** How many characters before the keyword the pattern begins. */
  readonly before?: readonly number[]
  /** For a very common keyword: which characters are at an offset from it where the pattern can match. */
  readonly peek?: readonly [offset: number, of: string]
  /** Whether the match may begin within a word. */
  readonly isWithin?: boolean
}

const isWordCode = (code: number) =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95

/** Whether a word begins at `at`. In JSON strings a line break is written `\n`, in addresses a character may be written `%3D`. */
const startsWord = (text: string, at: number): boolean =>
  !isWordCode(text.charCodeAt(at - 1)) ||
  (text[at - 2] === '\\' && /[nrt]/.test(text[at - 1]!)) ||
  /%[0-9A-Fa-f]{2}$/.test(text.slice(Math.max(0, at - 3), at))

/** The rule for a secret with a form of its own. The secret is the first group of the pattern that matches, or the whole match. */
const form = (
  rule: string,
  keywords: string | readonly string[],
  pattern: RegExp,
  { isSecret, before, isWithin = false, peek }: FormOptions = {},
): Rule => {
  const lookFrom = (text: string, begin: number): Range | undefined => {
    if (begin < 0 || (!isWithin && begin > 0 && !startsWord(text, begin))) return undefined
    pattern.lastIndex = begin
    const match = pattern.exec(text)
    if (!match) return undefined
    const secret = match.find((group, index) => index > 0 && group !== undefined) ?? match[0]
    if (isSecret && !isSecret(secret)) return undefined
    const within = match[0].lastIndexOf(secret)
    const start = within >= 0 ? begin + within : text.lastIndexOf(secret, begin)
    const end = start + secret.length
    return { start, end: end === pattern.lastIndex ? endOfRun(text, start, end) : end }
  }
  const look: Look = (text, at) => {
    if (peek && !peek[1].includes(text[at + peek[0]] ?? ' ')) return undefined
    if (!before) return lookFrom(text, at)
    for (const back of before) {
      const found = lookFrom(text, at - back)
      if (found) return found
    }
    return undefined
  }
  return { rule, keywords: [keywords].flat(), look }
}

/** Random text has digits, or letters of both cases side by side, and no words. */
const isRandom = (secret: string): boolean =>
  !isPlaceholder(secret) &&
  (/(?:[0-9][^0-9]*){2}/.test(secret) || (/[0-9]|[a-z][A-Z]|[A-Z]{2}[a-z]/.test(secret) && !isWordy(secret)))
const random: FormOptions = { isSecret: isRandom }
const isSaid = (secret: string): boolean => secret.length >= 4 && !isPlaceholder(secret) && !/^[$<%{]/.test(secret)
const isArgument = (secret: string): boolean => isSecretValue(secret, 'password', 'tight')

/** Whether a text is the name and the password of a user. */
const isPair = (text: string): boolean => /^[\x20-\x39\x3b-\x7e]{1,80}:[\x20-\x7e]{3,200}$/.test(text)

const webAddress = /:\\?\/\\?\/([^\s/:@"'`<>\\]{0,200}):([^\s/"'`<>\\]{1,300})@(?=[\w[$.-])/y
/** The same with slashes in the password, which people write in addresses of databases. */
const anyAddress = /:\\?\/\\?\/([^\s/:@"'`<>\\]{0,200}):([^\s"'`<>\\]{1,100})@(?=[\w[$.-])/y

/** Text after a colon that is not a password: a port with a path, the path of a drive, a version. */
const afterColon = /^(?:\d{1,5}[/?#]|[/\\]|v?\d{1,4}(?:\.\d{1,6}){1,4}$)/

/** Passwords in addresses, such as connection strings and remotes of repositories. Placeholders are left alone. */
const lookForUrlPassword: Look = (text, at) => {
  const isWeb = /(?:https?|wss?)$/i.test(text.slice(Math.max(0, at - 5), at))
  const address = isWeb ? webAddress : anyAddress
  address.lastIndex = at
  const [, user, password = ''] = address.exec(text) ?? []
  if (password === user || !isSaid(password)) return undefined
  if (afterColon.test(password) || text.startsWith('sha256:', address.lastIndex)) return undefined
  const end = address.lastIndex - 1
  return { start: end - password.length, end }
}

const armourBegin = /-----BEGIN[A-Z ]{0,24}PRIVATE KEY(?: BLOCK)?-----/y
const armourBody = /[A-Za-z0-9+/=\s\\,:"'|>→]+|-(?!-)/y
const armourEnd = /-{1,8}END[A-Z ]{0,24}PRIVATE KEY(?: BLOCK)?-----/y
/** A line break, also one that is written `\n`, with the quotes and marks before it in code. */
const lineBreak = /^[ \t"',+|>→]{0,20}(?:[\r\n]|\\{1,4}[nr])/

/** Where the last of a pattern's consecutive matches ends. */
const endOfAll = (pattern: RegExp, text: string, from: number): number => {
  let end = from
  for (pattern.lastIndex = from; pattern.test(text);) end = pattern.lastIndex
  return end
}

/** Private keys in PEM, also without their end. In code their line breaks are written `\n`. */
const lookForPrivateKey: Look = (text, at) => {
  armourBegin.lastIndex = at
  if (!armourBegin.test(text)) return undefined
  const from = armourBegin.lastIndex
  const end = endOfAll(armourBody, text, from)
  const body = text.slice(from, end)
  const [line] = /[A-Za-z0-9+=]{24,200}/.exec(body) ?? []
  const isKey = lineBreak.test(body) ? /[A-Za-z0-9+/=]{24}/.test(body) : line !== undefined && isRandom(line)
  if (!isKey) return undefined
  armourEnd.lastIndex = end
  return { start: at, end: armourEnd.test(text) ? armourEnd.lastIndex : end }
}

const MOST_OF_SECRET = 4_000

/** The values of a Secret of Kubernetes. */
const lookForKubernetes: Look = (text, at) => {
  const document = text.slice(at, at + MOST_OF_SECRET).split(/\n---/, 1)[0]!
  const data = /\n[ +-]{0,4}(?:string)?data:[ \t]*\n/i.exec(document)
  if (!data) return undefined
  const from = data.index + data[0].length
  return [...document.slice(from).matchAll(/^[ +-]{1,8}[\w.-]{1,80}: {1,4}["']?([^\s"'{}]{6,})/gm)].flatMap((entry) => {
    const value = entry[1]!
    if (isPlaceholder(value)) return []
    const start = at + from + entry.index + entry[0].length - value.length
    return [{ start, end: start + value.length }]
  })
}

/**
 * All rules, in groups. Where two find the same text, the first one names it. The tests have samples for each rule: what it finds, and
 * similar text that it leaves alone.
 */
export const rules: readonly Rule[] = [
  // Providers of models, and services based on models.
  form('anthropic', 'sk-ant-', /sk-ant-[a-z]{2,8}[0-9]{2}-[A-Za-z0-9_-]{32,}/y),
  form('openai', 'sk-', /sk-(?:proj-|svcacct-|admin-|None-)?[A-Za-z0-9_-]{0,200}T3BlbkFJ[A-Za-z0-9_-]{16,}/y),
  form('openai', 'sk-', /sk-(?:proj-|svcacct-|admin-)[A-Za-z0-9_-]{40,512}/y, random),
  form('openai', 'sk-', /sk-[A-Za-z0-9]{48}(?![A-Za-z0-9_-])/y),
  form('openrouter', 'sk-or-v1-', /sk-or-v1-[0-9a-f]{64}/y),
  form('deepseek', 'sk-', /sk-[0-9a-f]{32}(?![A-Za-z0-9_-])/y),
  form('openai', 'sk-', /sk-[A-Za-z0-9]{32,64}(?![A-Za-z0-9_-])/y, random),
  form('langfuse', ['sk-lf-', 'pk-lf-'], /[sp]k-lf-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/y),
  form('langsmith', ['lsv2_', 'ls__'], /(?:lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{8,12}|ls__[0-9a-f]{32})/y),
  form('tavily', 'tvly-', /tvly-(?:[a-z]{2,8}-)?[A-Za-z0-9_-]{20,512}/y, random),
  form('pinecone', 'pcsk_', /pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{40,}/y),
  form('firecrawl', 'fc-', /fc-[0-9a-f]{32}(?![A-Za-z0-9])/y),
  form('cerebras', 'csk-', /csk-[a-z0-9]{40,512}/y, random),
  form('fireworks', 'fw_', /fw_[A-Za-z0-9]{20,512}(?![A-Za-z0-9_])/y, random),
  form('groq', 'gsk_', /gsk_[A-Za-z0-9]{48,}/y),
  form('xai', 'xai-', /xai-[A-Za-z0-9]{60,}/y),
  form('perplexity', 'pplx-', /pplx-[A-Za-z0-9]{40,64}/y),
  form('replicate', 'r8_', /r8_[A-Za-z0-9]{37}/y),
  form('huggingface', ['hf_', 'api_org_'], /(?:hf|api_org)_[A-Za-z0-9]{30,40}(?![A-Za-z0-9_])/y),
  form('nvidia', 'nvapi-', /nvapi-[A-Za-z0-9_-]{60,}/y),
  form('together', 'tgp_v1_', /tgp_v1_[A-Za-z0-9_-]{40,}/y),
  form('elevenlabs', 'sk_', /sk_[0-9a-f]{48}(?![A-Za-z0-9_])/y),
  form('voyage', 'pa-', /pa-[A-Za-z0-9_-]{40,50}(?![A-Za-z0-9_-])/y, random),
  form('jina', 'jina_', /jina_[A-Za-z0-9_-]{50,}/y),
  form('brave', 'bsa', /BSA[A-Za-z0-9_-]{26,30}(?![A-Za-z0-9_-])/y, random),
  form('apify', 'apify_api_', /apify_api_[A-Za-z0-9]{30,}/y),
  form('e2b', 'e2b_', /e2b_[0-9a-f]{40}/y),
  form('modal', ['ak-', 'as-'], /a[ks]-[A-Za-z0-9]{22}(?![A-Za-z0-9_-])/y, random),
  form('logfire', 'pylf_v', /pylf_v[0-9]_(?:[a-z]{2}_)?[A-Za-z0-9]{40,}/y),
  form('posthog', ['phc_', 'phx_', 'phs_', 'pha_', 'phr_'], /ph[cxsar]_[A-Za-z0-9]{32,}/y),
  form('sourcegraph', ['sgp_', 'slk_'], /(?:sgp_(?:[0-9a-fA-F]{16}_|local_)?[0-9a-fA-F]{40}|slk_[0-9a-f]{64})/y),
  form('tracebook', 'tb_', /tb_[A-Za-z0-9_-]{32,}/y),

  // Clouds.
  form(
    'aws',
    ['akia', 'asia', 'abia', 'acca', 'a3t'],
    /A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])(?![A-Z0-9]{0,13}EXAMPLE)[A-Z0-9]{16}(?![A-Za-z0-9])/y,
  ),
  form(
    'aws',
    [
      'aws_s',
      'awss',
      'aws-s',
      'secret_access_key',
      'secretaccesskey',
      'secret access key',
      'session_token',
      'sessiontoken',
    ],
    /(?:aws[_-]?)?(?:session[_-]?token|secret(?:[ _-]?access)?[ _-]?key)[\\"'`\]]{0,6}\s{0,8}(?:[:=]>?|is)?\s{0,8}[\\"'`]{0,4}(?![A-Za-z0-9/+]{0,39}EXAMPLEKEY)([A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])=?|[A-Za-z0-9/+]{100,512}={0,2})/iy,
    { isWithin: true, isSecret: isRandom },
  ),
  form(
    'bedrock',
    ['absk', 'bedrock-api-key-'],
    /(?:ABSK[A-Za-z0-9+/]{80,2000}={0,2}|bedrock-api-key-[A-Za-z0-9+/_-]{30,}={0,2})/y,
  ),
  form('azure', ['accountkey=', 'sharedaccesskey='], /(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,88}={0,2})/iy),
  form('azure', ['?sig=', '&sig='], /[?&]sig=([A-Za-z0-9%+/=_-]{40,})/y, { isWithin: true }),
  form('azure', 'q~', /[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,37}(?![A-Za-z0-9_~-])/y, { before: [4] }),
  form(
    'azure',
    ['azfu', 'acdb', 'azse', 'azco', '+ast', '+aeh', '+acr'],
    /[A-Za-z0-9+/]{30,80}(?:AzFu|ACDb|AzSe|AzCo|\+ASt|\+AEh|\+ACR)[A-Za-z0-9+/]{5,12}={0,2}(?![A-Za-z0-9+/])/y,
    { before: [44, 76, 42, 33, 52] },
  ),
  form('google', 'aiza', /AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/y),
  form('google', 'gocspx-', /GOCSPX-[A-Za-z0-9_-]{28}/y),
  form('google', 'ya29.', /ya29\.[A-Za-z0-9_-]{20,}/y),
  form('google', '1//0', /1\/\/0[A-Za-z0-9_-]{38,}/y),
  form('alibaba', 'ltai', /LTAI[A-Za-z0-9]{12,24}(?![A-Za-z0-9])/y, random),
  form('yandex', 'aqvn', /AQVN[A-Za-z0-9_-]{35,40}(?![A-Za-z0-9_-])/y),
  form('yandex', 'yc', /YC[A-Za-z0-9_-]{38}(?![A-Za-z0-9_-])/y, random),
  form('yandex', ['t1.', 'y0_'], /(?:t1\.[A-Za-z0-9_-]{1,400}={0,2}\.[A-Za-z0-9_-]{86}={0,2}|y0_[A-Za-z0-9_-]{50,})/y),
  form('digitalocean', ['doo_v1_', 'dop_v1_', 'dor_v1_', 'dot_v1_'], /do[oprt]_v1_[a-f0-9]{64}/y),
  form('heroku', 'hrku-', /HRKU-[A-Za-z0-9_-]{36,64}/y),
  form('fly', 'flyv1', /FlyV1 (fm[0-9][a-z]?_[A-Za-z0-9+/=,_]{40,})/y),
  form(
    'fly',
    ['fo1_', 'fm1', 'fm2_'],
    /(?:fo1_[A-Za-z0-9_-]{43}|fm1[ar]_[A-Za-z0-9+/]{80,2000}={0,3}|fm2_[A-Za-z0-9+/]{80,}={0,3})/y,
  ),
  form('netlify', ['nfp_', 'nfc_', 'nfo_', 'nfu_'], /nf[pcou]_[A-Za-z0-9]{36,64}/y),
  form(
    'vercel',
    ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_', 'vercel_blob_rw_'],
    /(?:vc[piark]_[A-Za-z0-9]{20,60}|vercel_blob_rw_[A-Za-z0-9]{16}_[A-Za-z0-9]{30,512})/y,
    random,
  ),
  form('render', 'rnd_', /rnd_[A-Za-z0-9]{26,36}(?![A-Za-z0-9_])/y, random),
  form('cloudflare', ['cfk_', 'cfut_', 'cfat_'], /cf(?:k|ut|at)_[A-Za-z0-9]{40}[0-9a-f]{8}/y),
  form('cloudflare', 'v1.0-', /v1\.0-[a-f0-9]{24}-[a-f0-9]{146}/y),
  form('scalingo', 'tk-us-', /tk-us-[A-Za-z0-9_-]{48}/y),
  form('scaleway', 'scw', /SCW[A-Z0-9]{17}(?![A-Za-z0-9])/y, random),
  form('tailscale', 'tskey-', /tskey-[a-z]{2,20}-[A-Za-z0-9_]{6,40}(?:-[A-Za-z0-9_]{12,60})?/y, random),
  form('openshift', 'sha256~', /sha256~[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/y),

  // Code, packages, builds.
  form('github', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], /gh[pousr]_[A-Za-z0-9]{30,512}/y, {
    isWithin: true,
    isSecret: isRandom,
  }),
  form('github', 'ghs_', /ghs_[0-9]{1,20}_[A-Za-z0-9_-]{20,2000}\.[A-Za-z0-9_-]{20,2000}\.[A-Za-z0-9_-]{20,}/y),
  form('github', 'github_pat_', /github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{50,}/y, { isWithin: true }),
  form(
    'gitlab',
    [
      'glpat-',
      'gldt-',
      'glrt-',
      'glcbt-',
      'glptt-',
      'glft-',
      'glsoat-',
      'glagent-',
      'glimt-',
      'gloas-',
      'glffct-',
      'glrtr-',
      'glwt-',
    ],
    /gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|imt|oas|ffct|rtr|wt)-(?:t[0-9]_)?[A-Za-z0-9_-]{16,300}(?:\.[0-9a-z]{2}\.?[0-9a-z]{7})?/y,
    random,
  ),
  form('gitlab', 'gr1348941', /GR1348941[A-Za-z0-9_-]{20}/y),
  form('gitlab', '_gitlab_session=', /_gitlab_session=([0-9a-z]{32})/y),
  form('bitbucket', ['atbb', 'atctt3', 'atatt3'], /(?:ATBB[A-Za-z0-9]{28,2000}|AT(?:ATT|CTT)3[A-Za-z0-9_=-]{28,})/y),
  form('npm', 'npm_', /npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/y),
  form(
    'npm',
    ['_authtoken=', '_auth=', '_password='],
    /_(?:authToken|auth|password)=["']?([A-Za-z0-9+/=_.-]{8,512})/iy,
    {
      isWithin: true,
      isSecret: (secret) => !isPlaceholder(secret) && isSecretValue(secret.replace(/={1,2}$/, ''), 'secret', 'tight'),
    },
  ),
  form('pypi', 'pypi-ag', /pypi-Ag[A-Za-z0-9_-]{50,}/y),
  form('rubygems', 'rubygems_', /rubygems_[a-f0-9]{48}/y),
  form('nuget', 'oy2', /oy2[a-z0-9]{43}(?![A-Za-z0-9])/y, random),
  form('nuget', '<add key=', /<add key="(?:ClearText)?Password"\s{1,20}value="([^"\n]{6,200})"/iy, {
    isWithin: true,
    isSecret: isSaid,
  }),
  form('crates', 'cio', /cio[A-Za-z0-9]{32}(?![A-Za-z0-9])/y, random),
  form('clojars', 'clojars_', /CLOJARS_[a-z0-9]{60}/iy),
  form('docker', ['dckr_pat_', 'dckr_oat_'], /dckr_[po]at_[A-Za-z0-9_-]{27,}/y),
  form('artifactory', ['akcp', 'cmvmd'], /(?:AKCp[A-Za-z0-9]{60,2000}|cmVmd[A-Za-z0-9]{55,})/y),
  form('circleci', 'ccipat_', /CCIP(?:AT|RJ)_[A-Za-z0-9]{10,40}_[0-9a-f]{40}/y),
  form('buildkite', ['bkua_', 'bkct_'], /bk(?:ua|ct)_[0-9a-zA-Z]{40}/y),
  form('sonar', ['squ_', 'sqp_', 'sqa_'], /sq[upa]_[0-9a-f]{40}/y),
  form('snyk', 'snyk_', /snyk_(?:uat|sat)\.[A-Za-z0-9]{8}\.[A-Za-z0-9_.-]{40,}/y),
  form('harness', ['pat.', 'sat.'], /[ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}/y),
  form('octopus', 'api-', /API-[A-Z0-9]{25,32}(?![A-Za-z0-9-])/y, random),
  form('terraform', '.atlasv1.', /[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}/y, { before: [14] }),
  form('pulumi', 'pul-', /pul-[a-f0-9]{40}(?![A-Za-z0-9])/y),
  form('prefect', ['pnu_', 'pnb_'], /pn[ub]_[A-Za-z0-9]{36}(?![A-Za-z0-9])/y),
  form('infracost', 'ico-', /ico-[A-Za-z0-9]{32}(?![A-Za-z0-9])/y, random),
  form('postman', 'pmak-', /PMAK-[a-f0-9]{24}-[a-f0-9]{34}/iy),
  form('readme', 'rdme_', /rdme_[a-z0-9]{70}/y),
  form('adobe', 'p8e-', /p8e-[a-z0-9]{32}(?![A-Za-z0-9])/iy, random),
  form('databricks', ['dapi', 'dose'], /d(?:api|ose)[a-f0-9]{32}(?:-[0-9])?(?![A-Za-z0-9])/y),
  form('clickhouse', '4b1d', /4b1d[A-Za-z0-9]{38}(?![A-Za-z0-9])/y, random),
  form('defined', 'dnkey-', /dnkey-[a-z0-9=_-]{26}-[a-z0-9=_-]{52}/iy),
  form('maxmind', '_mmk', /[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![A-Za-z0-9])/y, { before: [36] }),
  form(
    'authress',
    ['sc_', 'ext_', 'scauth_', 'authress_'],
    /(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}/y,
  ),
  form('intra42', 's-s4t2', /s-s4t2(?:ud|af)-[a-f0-9]{64}/iy),
  form('settlemint', ['sm_aat_', 'sm_pat_', 'sm_sat_'], /sm_[aps]at_[A-Za-z0-9]{16}/y),
  form('frameio', 'fio-u-', /fio-u-[A-Za-z0-9_=-]{64}/y),
  form('sidekiq', '.contribsys.com', /(?<=:\/\/([a-f0-9]{8}:[a-f0-9]{8})@(?:gems|enterprise))\.contribsys\.com/y, {
    isWithin: true,
  }),

  // Databases and stores.
  form('neon', ['napi_', 'npg_'], /(?:napi_[a-z0-9]{40,512}|npg_[A-Za-z0-9]{12,512}(?![A-Za-z0-9_]))/y, random),
  form('supabase', ['sbp_', 'sb_secret_'], /(?:sbp_(?:oauth_)?[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,64})/y),
  form('planetscale', 'pscale_', /pscale_(?:tkn|pw|oauth|app_secret)_[A-Za-z0-9_.=-]{32,64}/y),
  form('aiven', 'avns_', /AVNS_[A-Za-z0-9_-]{16,512}/y, random),
  form('cockroach', 'ccdb1_', /CCDB1_[A-Za-z0-9]{22}_[A-Za-z0-9]{40}/y),
  form('mongodb', 'mdb_sa_sk_', /mdb_sa_sk_[A-Za-z0-9_-]{40}/y),
  form('airtable', 'pat', /pat[A-Za-z0-9]{14}\.[a-f0-9]{64}/y),
  form(
    'algolia',
    'algolia',
    /algolia[\w. -]{0,40}[\\"'`\]]{0,4}\s{0,4}[:=,]>?\s{0,4}[\\"'`]{0,4}([a-f0-9]{32})(?![A-Za-z0-9])/iy,
    { isWithin: true },
  ),
  form('contentful', 'cfpat-', /CFPAT-[A-Za-z0-9_-]{43}/y),
  form('dropbox', 'sl.', /sl\.(?:u\.)?[A-Za-z0-9_-]{100,}/y),

  // Messages, mail, people.
  form(
    'slack',
    ['xoxa', 'xoxb', 'xoxc', 'xoxd', 'xoxe', 'xoxo', 'xoxp', 'xoxr', 'xoxs'],
    /xox[abcdeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}/y,
  ),
  form('slack', 'xapp-', /xapp-[0-9]-[A-Z0-9]{6,2000}-[0-9]{6,2000}-[A-Za-z0-9]{16,}/iy),
  form(
    'slack',
    'hooks.slack.com',
    /hooks\.slack\.com\\?\/(?:services|workflows|triggers)\\?\/([A-Za-z0-9+/_\\-]{20,80})/y,
    {
      isWithin: true,
      isSecret: (path) => /[0-9]/.test(path) && !/X{4}|0{6}|your/i.test(path),
    },
  ),
  form(
    'discord',
    'webhooks',
    /(?<=discord(?:app)?\.com\\?\/api\\?\/(?:v[0-9]{1,2}\\?\/)?)webhooks\\?\/([0-9]{15,22}\\?\/[A-Za-z0-9_-]{40,80})/y,
    { isWithin: true },
  ),
  form(
    'discord',
    '.',
    /(?<=(?<![A-Za-z0-9_.-])[MNO][A-Za-z0-9_-]{22,27})\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])/y,
    { isWithin: true, peek: [7, '.'] },
  ),
  form(
    'teams',
    '.webhook.office.com',
    /\.webhook\.office\.com\\?\/webhookb2\\?\/([A-Za-z0-9@-]{36,110}\\?\/IncomingWebhook\\?\/[A-Za-z0-9]{20,40}(?:\\?\/[A-Za-z0-9_/-]{8,120})?)/y,
    { isWithin: true },
  ),
  form(
    'webhook',
    [
      'hooks.zapier.com/',
      'hook.eu',
      'hook.us',
      'chat.googleapis.com/v1/spaces/',
      '.logic.azure.com',
      '.powerplatform.com',
      'open.feishu.cn/',
      'oapi.dingtalk.com/',
      'maker.ifttt.com/',
    ],
    /(?:hooks\.zapier\.com\/hooks\/catch\/[0-9]{4,12}\/[a-z0-9]{5,12}|hook\.[a-z0-9.]{2,12}\.make\.com\/[a-z0-9]{20,40}|chat\.googleapis\.com\/v1\/spaces\/[\w-]{6,30}\/messages\?[\w=&%-]{20,300}|open\.feishu\.cn\/open-apis\/bot\/v2\/hook\/[0-9a-f-]{20,40}|oapi\.dingtalk\.com\/robot\/send\?access_token=[0-9a-f]{30,80}|maker\.ifttt\.com\/trigger\/\w{1,60}\/with\/key\/[\w-]{15,60})/y,
    { isWithin: true },
  ),
  form('telegram', ':aa', /(?<=(?<![0-9])[0-9]{8,10}):AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])/y, { isWithin: true }),
  form('sendgrid', 'sg.', /SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}/y, random),
  form('mailgun', ['key-', 'pubkey-'], /key-[0-9a-f]{32}(?![A-Za-z0-9])/y),
  form('mailgun', '-', /(?<=(?<![A-Za-z0-9-])[0-9a-f]{32})-[0-9a-f]{8}-[0-9a-f]{8}(?![A-Za-z0-9-])/y, {
    isWithin: true,
    peek: [9, '-'],
  }),
  form('mailchimp', '-us', /[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9])/y, { before: [32] }),
  form('mandrill', 'md-', /md-[A-Za-z0-9_-]{22}(?![A-Za-z0-9_-])/y, random),
  form('brevo', ['xkeysib-', 'xsmtpsib-'], /x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}/y),
  form('resend', 're_', /re_(?:[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,32}|[A-Za-z0-9]{30,40})(?![A-Za-z0-9_])/y, random),
  form('twilio', 'sk', /SK[0-9a-f]{32}(?![A-Za-z0-9])/y),
  form('notion', 'ntn_', /ntn_[A-Za-z0-9]{40,50}(?![A-Za-z0-9])/y),
  form('notion', 'secret_', /secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])/y),
  form('linear', ['lin_api_', 'lin_oauth_'], /lin_(?:api|oauth)_[A-Za-z0-9]{32,128}/y),
  form('figma', ['figd_', 'figo_', 'figu_'], /fig[dou]_[A-Za-z0-9_-]{36,200}/y),
  form('trello', 'atta', /ATTA[0-9a-f]{64}[0-9A-F]{8}/iy),
  form('typeform', 'tfp_', /tfp_[A-Za-z0-9_.=-]{40,512}/y, random),
  form('hubspot', 'pat-', /pat-(?:na|eu|ap)[0-9]-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/y),
  form('clickup', 'pk_', /pk_[0-9]{5,12}_[A-Z0-9]{32}(?![A-Za-z0-9])/y),
  form('asana', ['1/', '2/'], /[12]\/[0-9]{15,17}(?:\/[0-9]{15,17})?:[0-9a-f]{32}(?![A-Za-z0-9])/y),
  form('facebook', ['eaam', 'eaac', 'eaab', 'eaag'], /EAA[MCBG][A-Za-z0-9]{90,}/y),
  form('facebook', '|', /(?<=(?<![0-9])[0-9]{15,16})\|[A-Za-z0-9_-]{27}(?![A-Za-z0-9_-])/y, {
    isWithin: true,
    isSecret: isRandom,
    peek: [-1, '0123456789'],
  }),
  form('twitter', 'aaaaaaaaaaaaaaaaaaaaaa', /A{20,22}[A-Za-z0-9%]{70,110}(?![A-Za-z0-9%])/y, random),
  form('matrix', 'syt_', /syt_[A-Za-z0-9]{2,60}_[A-Za-z0-9]{20}_[A-Za-z0-9]{6}/y),
  form('pubnub', 'sec-c-', /sec-c-[A-Za-z0-9-]{40,60}/y),

  // Payments and shops.
  form(
    'stripe',
    ['sk_live_', 'sk_test_', 'sk_prod_', 'rk_live_', 'rk_test_', 'rk_prod_'],
    /[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,512}/y,
    {
      isWithin: true,
      isSecret: isRandom,
    },
  ),
  form('stripe', 'whsec_', /whsec_[A-Za-z0-9+/=]{24,512}/y, random),
  form('square', ['sq0atp-', 'sq0csp-', 'sq0idp-'], /sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,64}/y),
  form('square', 'eaaa', /EAAA[A-Za-z0-9_-]{40,80}(?![A-Za-z0-9_-])/y, random),
  form('shopify', ['shpat_', 'shpca_', 'shppa_', 'shpss_', 'shptka_'], /shp(?:at|ca|pa|ss|tka)_[a-fA-F0-9]{32}/y),
  form('shippo', 'shippo_', /shippo_(?:live|test)_[a-fA-F0-9]{40}/y),
  form('easypost', ['ezak', 'eztk'], /EZ[AT]K[A-Za-z0-9]{54}(?![A-Za-z0-9])/y),
  form('duffel', 'duffel_', /duffel_(?:test|live)_[A-Za-z0-9_=-]{43}/y),
  form('flutterwave', ['flwseck', 'flwpubk'], /FLW(?:SECK|PUBK)(?:_TEST)?-[a-h0-9A-H]{12,32}(?:-X)?/y),
  form('gocardless', 'live_', /live_[A-Za-z0-9_=-]{40}(?![A-Za-z0-9_=-])/y, random),
  form('lob', ['live_', 'test_'], /(?:live|test)_(?:pub_)?[a-f0-9]{31,35}(?![A-Za-z0-9])/y),
  form('plaid', 'access-', /access-(?:sandbox|development|production)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/y),
  form('razorpay', 'rzp_', /rzp_(?:live|test)_[A-Za-z0-9]{14}/y),
  form('alchemy', 'alcht_', /alcht_[A-Za-z0-9]{28,}/y),
  form('freemius', "'sk_", /'(sk_[^\s']{29})'/y, { isWithin: true, isSecret: isRandom }),
  form('beamer', 'b_', /b_[a-z0-9=_-]{44}(?![A-Za-z0-9=_-])/y, random),

  // What runs, and is watched.
  form('grafana', ['glc_', 'glsa_'], /(?:glc_[A-Za-z0-9+/]{32,400}={0,3}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8})/y),
  form('grafana', 'eyjrijoi', /eyJrIjoi[A-Za-z0-9]{60,400}={0,3}/y),
  form(
    'newrelic',
    ['nrak-', 'nrjs-', 'nrii-', 'nrra-'],
    /NR(?:AK-[A-Z0-9]{27}|JS-[a-f0-9]{19}|(?:II|RA)-[A-Za-z0-9_-]{32,42})/iy,
  ),
  form('sentry', ['sntrys_eyj', 'sntryu_'], /sntry(?:s_eyJ[A-Za-z0-9_=+/-]{40,2000}|u_[a-f0-9]{64})/y),
  form(
    'sentry',
    '.ingest.',
    /(?<=:\/\/([0-9a-f]{32})(?::[0-9a-f]{32})?@[a-z0-9]{1,30})\.ingest\.(?:[a-z]{2}\.)?sentry\.io/y,
    { isWithin: true },
  ),
  form(
    'sentry',
    'sentry.',
    /(?<=:\/\/([0-9a-f]{32})(?::[0-9a-f]{32})?@(?:[a-z0-9]{1,30}\.){0,2})sentry\.[\w.-]{2,60}\/[0-9]/y,
    { isWithin: true },
  ),
  form('dynatrace', 'dt0', /dt0[a-z][0-9]{2}\.[A-Za-z0-9]{8,24}\.[A-Za-z0-9]{64}/y),
  form('honeycomb', 'hcaik_', /hcaik_[a-z0-9]{58,}/y),
  form('doppler', 'dp.', /dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,80}/y),
  form('vault', ['hvs.', 'hvb.', 'hvr.'], /hv[sbr]\.[A-Za-z0-9_-]{24,300}/y, random),
  form('vault', 's.', /s\.(?=[A-Za-z]{0,23}[0-9])[A-Za-z0-9]{24}(?![A-Za-z0-9_.])/y, random),
  form(
    '1password',
    ['ops_eyj', 'a3-'],
    /(?:ops_eyJ[A-Za-z0-9+/]{100,2000}={0,3}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3})/y,
  ),
  form('age', 'age-secret-key-1', /AGE-SECRET-KEY-1[A-Z0-9]{58}/iy),
  form('mapbox', ['pk.eyj', 'sk.eyj', 'tk.eyj'], /[pst]k\.eyJ[A-Za-z0-9_-]{40,2000}\.[A-Za-z0-9_-]{20,24}/y),
  // Never from within a run of its characters: each run is read a few times only.
  form('jwt', 'eyj', /(?<!(?<!\\)[A-Za-z0-9_-]-)eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}/y),
  form('jwt', 'zxlk', /ZXlK[A-Za-z0-9+/_-]{80,}={0,2}/y),
  { rule: 'privatekey', keywords: ['-----begin'], look: lookForPrivateKey },
  // The same in base64, as in a kubeconfig: certificates and public keys are none.
  form('privatekey', 'ls0tls1crudjti', /LS0tLS1CRUdJTi(?!BDRVJUSUZJQ0FUR|BQVUJMSUMg)[A-Za-z0-9+/]{40,}={0,2}/y),
  form('privatekey', 'private-lines:', /Private-Lines: [0-9]{1,4}\r?\n([A-Za-z0-9+/=\r\n]{40,})/iy),
  { rule: 'kubernetes', keywords: ['kind: secret'], look: lookForKubernetes },

  // In addresses, headers and commands.
  form('url-password', ['@tcp(', '@unix('], /(?<=[\w.-]{1,60}:([^\s"'`:@/]{3,100}))@(?:tcp|unix)\(/y, {
    isWithin: true,
    isSecret: isSaid,
  }),
  { rule: 'url-password', keywords: ['://', ':\\/\\/'], look: lookForUrlPassword },
  form('url-password', '://', /:\/\/([A-Za-z0-9_-]{20,200})@(?=[\w.-]{1,100}[/:])/y, {
    isWithin: true,
    isSecret: isRandom,
  }),
  form(
    'authorization',
    'authorization',
    /authorization[\\"'`\]]{0,6}[ \t]{0,4}(?:[:=,]|=>|\))[ \t]{0,4}[\\"'`]{0,4}(?:(?:bearer|basic|token|apikey|api-key|key|digest|negotiate|bot|splunk|sso-key|snyk|genie[-]?key)[ \t:]{1,4})?([A-Za-z0-9+/=_.~:-]{8,512})/iy,
    { isWithin: true, isSecret: (secret) => isSecretValue(secret.replace(/={1,2}$/, ''), 'secret', 'tight') },
  ),
  form('authorization', 'bearer ', /bearer {1,2}([A-Za-z0-9+/=_.~-]{16,})/iy, {
    isSecret: (secret) => isSecretValue(secret, 'secret', 'bare'),
  }),
  form('authorization', 'basic ', /basic {1,2}([A-Za-z0-9+/]{12,}={0,2})(?![A-Za-z0-9+/=])/iy, {
    isSecret: (secret) => isPair(Buffer.from(secret, 'base64').toString('latin1')),
  }),
  form(
    'cookie',
    ['cookie:', 'cookie": "', 'cookie=', 'cookie '],
    /cookie[\\"']{0,3}[:= ][ \t]{0,4}[\\"']{0,3}(?:[\w.-]{1,40}=[^;\s"']{0,200}; {0,2}){0,6}?[\w.-]{0,30}(?:sess|sid|token|auth|jwt|remember)[\w.-]{0,30}=([^;\s"'\\]{12,400})/iy,
    { isWithin: true, isSecret: (secret) => isSecretValue(secret, 'secret', 'tight') },
  ),
  form(
    'password-argument',
    ['mysql', 'mariadb'],
    /(?:mysql|mariadb)(?:dump|admin|import|-dump|-admin|sh|check|show)?[^\n|;]{0,200}? -p(?!assword)["']?([^\s"'`;|&<>]{4,512})/y,
    { isWithin: true, isSecret: isArgument },
  ),
  form(
    'password-argument',
    'sshpass',
    /sshpass(?: -[vhP]\S{0,40}){0,2} {1,3}-p {0,2}(?:"([^"\n]{3,512})"|'([^'\n]{3,512})'|([^\s"']{3,512}))/y,
    { isSecret: isSaid },
  ),
  form(
    'password-argument',
    ['curl', 'wget', 'http '],
    /(?:curl|http|wget)\b[^\n]{0,400}?[ \n](?:-u|-a|--user|--proxy-user|-U|--auth)(?:=| {0,3})(?:"[^\s:"'\\@]{0,100}:([^"\n\\]{3,512})"|'[^\s:"'\\@]{0,100}:([^'\n]{3,512})'|["'\\]{0,3}(?!["'])[^\s:"'\\@]{0,100}:([^\s"'\\]{3,512}))/y,
    { isSecret: isSaid },
  ),
  form(
    'password-argument',
    ['login'],
    /login\b[^\n|;]{0,200}? (?:-p|--password)(?:=| {1,3})(?:"([^"\n]{4,512})"|'([^'\n]{4,512})'|([^\s"'`;|&<>-][^\s"'`;|&<>]{3,512}))/y,
    { isSecret: isArgument },
  ),
  form(
    'password-argument',
    [
      'redis-cli',
      'ldap',
      'mongo',
      'mosquitto_',
      'sqlcmd',
      'zip ',
      '7z ',
      'cqlsh',
      'influx',
      'xfreerdp',
      'rabbitmqadmin',
      'ssh-keygen',
    ],
    /(?:redis-cli\b[^\n|;]{0,160}? -a|ldap[a-z]{3,10}\b[^\n|;]{0,200}? -w|mongo\w{0,10}\b[^\n|;]{0,160}? -p|mosquitto_[a-z]{3}\b[^\n|;]{0,160}? -P|sqlcmd\b[^\n|;]{0,160}? -P|(?:un)?zip [^\n|;]{0,100}?-P|7z [^\n|;]{0,100}?-p|cqlsh\b[^\n|;]{0,160}? -p|influx\b[^\n|;]{0,160}? -p|rabbitmqadmin\b[^\n|;]{0,160}? -p|ssh-keygen\b[^\n|;]{0,160}? -N|xfreerdp\b[^\n|;]{0,160}? \/p:) {0,2}(?:"([^"\n]{4,512})"|'([^'\n]{4,512})'|([^\s"'`;|&<>-][^\s"'`;|&<>]{3,512}))/y,
    { isSecret: isArgument },
  ),
  form(
    'password-argument',
    'htpasswd',
    /htpasswd {1,2}-[a-zA-Z]{0,4}b[a-zA-Z]{0,4} {1,2}(?:\S{1,200} {1,2})?[\w.@-]{1,60} {1,2}["']?([^\s"']{4,512})/y,
    { isSecret: isSaid },
  ),
  form('password-argument', ['pass:'], /pass:([^\s"'`]{4,512})/y, { isSecret: isArgument }),
  form(
    'password-argument',
    ['echo ', 'printf '],
    /(?:echo|printf)(?: -[ne]{1,2})? {1,2}(?:"([^"\n]{4,100})"|'([^'\n]{4,100})'|([^\s"'|;&]{4,100})) {0,2}\| {0,2}(?:sudo (?:-\w{1,3} ){0,3}?-\w{0,2}S|(?:docker|podman|helm|az|gh|skopeo|buildah|crane|oras|glab)[^\n]{0,200}?--?(?:password|with-token|stdin)|(?:sudo )?(?:chpasswd|passwd --stdin|kinit|cryptsetup|gpg[^\n]{0,100}?--passphrase-fd|mount\.\w{2,10}|smbpasswd))/y,
    { isSecret: isSaid },
  ),
  form(
    'password-argument',
    [
      'smbclient',
      'rpcclient',
      'sqlplus',
      'jdbc:oracle:',
      'expdp',
      'impdp',
      'wpa_passphrase',
      'add_user',
      'change_password',
      'net user',
    ],
    /(?:(?:smb|rpc)client\b[^\n]{0,200}? -U {0,2}["']?[\w\\.-]{1,60}%|jdbc:oracle:(?:thin|oci):[\w.]{1,60}\/|(?:sqlplus|expdp|impdp) (?:-\w{1,3} ){0,3}["']?[\w.]{1,60}\/|wpa_passphrase (?:"[^"\n]{1,60}"|'[^'\n]{1,60}'|\S{1,60}) |(?:add_user|change_password) ["']?[\w.-]{1,60}["']? |net user [\w.-]{1,60} )["']?([^\s"'@;|&]{4,512})/y,
    { isSecret: isArgument },
  ),
  form('password-argument', ['--from-literal'], /--from-literal[= ]["']?[\w.-]{1,80}=["']?([^\s"'`]{6,512})/y, {
    isSecret: isSaid,
    isWithin: true,
  }),
  form(
    'password-argument',
    ['identified by', 'identified with'],
    /identified (?:by|with [\w"'`]{1,40} (?:by|as)) {1,3}\\{0,3}["']([^\s"'`;\\]{4,512})["'\\]/iy,
    { isSecret: isSaid },
  ),
  form(
    'password-argument',
    ['-asplaintext', 'convertto-securestring'],
    /ConvertTo-SecureString(?: -String)? {1,2}["']([^"'\n]{4,100})["']/iy,
    { isSecret: isSaid },
  ),
  form(
    'password-argument',
    ['vault login', 'wandb login', 'snyk auth', 'gh secret set'],
    /(?:(?:vault|wandb) login(?: -\S{1,40}){0,3} |snyk auth |gh secret set \w{1,80} (?:-b|--body)[ =]?)["']?([^\s"'`]{8,512})/y,
    { isSecret: (secret) => isSecretValue(secret, 'secret', 'tight') },
  ),

  // Beside a name.
  { rule: 'secret-value', keywords: nameWords, look: findNamed },
]
