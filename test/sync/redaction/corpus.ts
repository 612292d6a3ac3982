/** A number generator with a seed, so that every run plants the same secrets. */
export const newRandom = (seed: number) => {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789'
const UPPER = LOWER.toUpperCase()
const ALNUM = LOWER + UPPER + DIGITS
const HEX = '0123456789abcdef'
const BASE64 = `${ALNUM}+/`
const URLSAFE = `${ALNUM}-_`

type Random = () => number

const chars = (random: Random, alphabet: string, count: number): string =>
  Array.from({ length: count }, () => alphabet[Math.floor(random() * alphabet.length)]).join('')

/** How a secret of each kind is made. Made up: none of them was ever valid. */
export const kinds: Readonly<Record<string, (random: Random) => string>> = {
  'aws access key': (r) => `AKIA${chars(r, UPPER + DIGITS, 16)}`,
  'aws secret key': (r) => `aws_secret_access_key = ${chars(r, BASE64, 40)}`,
  'anthropic key': (r) => `sk-ant-api03-${chars(r, URLSAFE, 93)}AA`,
  'openai project key': (r) => `sk-proj-${chars(r, URLSAFE, 74)}T3BlbkFJ${chars(r, URLSAFE, 74)}`,
  'openai key': (r) => `sk-${chars(r, ALNUM, 20)}T3BlbkFJ${chars(r, ALNUM, 20)}`,
  'google api key': (r) => `AIza${chars(r, URLSAFE, 35)}`,
  'google client secret': (r) => `GOCSPX-${chars(r, URLSAFE, 28)}`,
  'github token': (r) => `ghp_${chars(r, ALNUM, 36)}`,
  'github fine-grained token': (r) => `github_pat_${chars(r, ALNUM, 22)}_${chars(r, ALNUM, 59)}`,
  'gitlab token': (r) => `glpat-${chars(r, URLSAFE, 20)}`,
  'npm token': (r) => `npm_${chars(r, ALNUM, 36)}`,
  'pypi token': (r) => `pypi-AgEIcHlwaS5vcmc${chars(r, URLSAFE, 80)}`,
  'slack bot token': (r) => `xoxb-${chars(r, DIGITS, 12)}-${chars(r, DIGITS, 13)}-${chars(r, ALNUM, 24)}`,
  'slack webhook': (r) =>
    `https://hooks.slack.com/services/T${chars(r, UPPER, 8)}/B${chars(r, UPPER, 8)}/${chars(r, ALNUM, 24)}`,
  'stripe key': (r) => `sk_live_${chars(r, ALNUM, 24)}`,
  'sendgrid key': (r) => `SG.${chars(r, ALNUM, 22)}.${chars(r, ALNUM, 43)}`,
  'telegram bot token': (r) => `${chars(r, '123456789', 9)}:AA${chars(r, URLSAFE, 33)}`,
  'hugging face token': (r) => `hf_${chars(r, ALNUM, 34)}`,
  'digitalocean token': (r) => `dop_v1_${chars(r, HEX, 64)}`,
  'json web token': (r) => `eyJ${chars(r, URLSAFE, 33)}.eyJ${chars(r, URLSAFE, 60)}.${chars(r, URLSAFE, 43)}`,
  'private key': (r) =>
    `-----BEGIN RSA PRIVATE KEY-----\n${Array.from({ length: 12 }, () => chars(r, BASE64, 64)).join('\n')}\n-----END RSA PRIVATE KEY-----`,
  'openssh key': (r) =>
    `-----BEGIN OPENSSH PRIVATE KEY-----\n${Array.from({ length: 6 }, () => chars(r, BASE64, 70)).join('\n')}\n-----END OPENSSH PRIVATE KEY-----`,
  'postgres address': (r) => `postgres://app:${chars(r, ALNUM, 18)}@db.internal:5432/app`,
  'mongodb address': (r) => `mongodb+srv://app:${chars(r, ALNUM, 16)}@cluster0.abcde.mongodb.net/app`,
  'redis address': (r) => `redis://:${chars(r, ALNUM, 24)}@cache.internal:6379/0`,
  'remote with a token': (r) => `https://ada:${chars(r, ALNUM, 20)}@git.internal/app.git`,
  'bearer header': (r) => `Authorization: Bearer ${chars(r, ALNUM, 40)}`,
  'assigned key': (r) => `API_KEY=${chars(r, ALNUM, 32)}`,
  'assigned hex': (r) => `client_secret: "${chars(r, HEX, 40)}"`,
  'assigned password': (r) => `"password": "${chars(r, ALNUM, 12)}${chars(r, DIGITS, 4)}!aB${chars(r, ALNUM, 4)}"`,
  'airtable token': (r) => `pat${chars(r, ALNUM, 14)}.${chars(r, HEX, 64)}`,
  'tracebook token': (r) => `tb_${chars(r, URLSAFE, 43)}`,
}

/** The part of what a kind makes that must not leave the machine. */
export const secretOf = (made: string): string =>
  /^(?:[a-z+]+:\/\/[^:/@\s]*:)([^@\s]+)@/.exec(made)?.[1] ??
  /(?:Bearer |= |=|: "|: ")([^"\s]{16,})"?$/.exec(made)?.[1] ??
  made

/** Texts in which agents meet secrets. */
export const contexts: readonly ((made: string) => string)[] = [
  (made) => made,
  (made) => `Here is what you need: ${made} and then go on.`,
  (made) => `$ cat config\nhost: db\n${made}\n\nexit code 0`,
  (made) => `{"env": {"line": ${JSON.stringify(made)}}, "n": 1}`,
  (made) => `const client = connect('${made}')\n`,
  (made) => `   12→  ${made}\n   13→  other: true`,
  (made) => `- ${made}\n- see the docs`,
  (made) => `export VALUE="${made}"; ./run.sh`,
]
