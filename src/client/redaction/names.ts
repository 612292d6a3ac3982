import type { Strength } from './values.ts'

/** The end of a word, or of words written as one, that means a password. */
const password =
  /(?:passw(?:or)?d|passwrd|passwort|passcode|(?<!by|com|tres|sur|en|over|under)pass|(?:^|db|pg|my|sql|root|user|admin|smtp|mail|http)(?:pwd|pw))$/
const passphrase = /pass[-_]?phrase$|^mnemonic$/
const secret = /secret$|token$|credentials?$|^creds?$|^bearer$|^jwt$|^psk$|^apikey$|^pat$|^sas$|^dsn$/
const joinedKey =
  /(?:api|app|access|secret|private|priv|auth|encryption|signing|master|license|account|service|shared|session|subscription|deploy|webhook|admin|server)key$/
/** Words before `key` that make it a secret one. */
const keyKinds = new Set(
  'api app application access secret private priv auth authentication authorization encryption encrypting decryption signing signature master admin account service license licence subscription deploy deployment webhook server shared write read ingest ingestion integration personal developer live root functions cosmos instrumentation jwt hmac aes rsa wireguard preshared psk vault unseal recovery token dev prod cipher crypto'.split(
    ' ',
  ),
)
/** Words before such a word that make the value harmless, as in `nextPageToken`. */
const openBefore = new Set(
  'is has no num max min count total show hide forgot forgotten needs need require requires required missing invalid wrong expected unexpected expect public pub page next prev previous continuation cursor cancel cancellation idempotency sync eos bos pad unk sep cls mask stop special input output prompt completion cached reasoning used remaining context design css color lexer parser ast first last current start end peek bad csrf xsrf verification'.split(
    ' ',
  ),
)
/** Words before `key` that make it one of another kind. */
const openKeyBefore = new Set(
  'primary foreign partition sort cache object map dict row column index lookup query storage hot shortcut arrow keyboard press enter tab esc group unique composite translation locale message label event metric config setting option state react list item node host known sha hash dedupe dedup lock redis route trace order name class socket meta data json yaml env field props prop registry feature flag license localstorage bucket'.split(
    ' ',
  ),
)
/** Words after such a word that name something about a secret, not the secret, as in `tokenCount`. */
const openAfter = new Set(
  'id ids name names type types url urls uri path paths file files filename dir count counts limit limits length len size field fields label expires expiry expired expiration ttl at in format policy version prefix suffix pattern regex regexp re rule rules endpoint provider arn ref refs reference index status hint prompt placeholder input param params header headers algorithm alg mode class manager service services store storage handler callback schema error errors message usage budget rate window max min total used strength reset change changed changes changer confirmation? required requirement requirements valid invalid validation validator encoder encoding decoder kind kinds source sources lookup exists found missing generator generation rotation lifetime age created updated by for from of or and is not if when with env var variable variables scope scopes scanner scanning detection detected detector test tests spec manager map list set get event events page form screen view button dialog modal link icon text pair pairs usage metadata info detail details per count stream parser position start end offset exchange request response grant issuer audience model models price cost costs binding bindings press code down up codes mapping'.split(
    ' ',
  ),
)
/** Words after such a word that change nothing. */
const fineAfter = new Set(
  'value values base prod production dev development staging stage live main primary secondary old new current b64 base64 hex default root admin user db database plain plaintext raw str string bytes salt text v a b x confirm confirmation again repeat encoded'.split(
    ' ',
  ),
)

const wordsOf = (name: string): readonly string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '')

const strengthOfWord = (word: string, before: string | undefined, isConstant: boolean): Strength | undefined => {
  if (passphrase.test(word) || (word === 'phrase' && before === 'pass')) return 'passphrase'
  if (password.test(word) || (word === 'word' && before === 'pass')) return 'password'
  if (/^[cx]srf/.test(word)) return undefined
  if (secret.test(word) || joinedKey.test(word)) return 'secret'
  if (word === 'auth') return 'strong'
  if (word !== 'key') return undefined
  if (before !== undefined && (keyKinds.has(before) || secret.test(before))) return 'secret'
  if (before !== undefined && openKeyBefore.has(before)) return undefined
  return isConstant && before !== undefined ? 'secret' : 'strong'
}

/** The strength of a name with words of unknown meaning after the word for a secret. */
const weakest = (strength: Strength): Strength => (strength === 'password' ? 'password' : 'strong')

/** A word of at most this length may occur in random text by chance. */
const MOST_BY_CHANCE = 4

const strengthOfWords = (words: readonly string[], isConstant: boolean): Strength | undefined => {
  for (let i = words.length - 1; i >= 0; i--) {
    const strength = strengthOfWord(words[i]!, words[i - 1], isConstant)
    if (!strength) continue
    const after = words.slice(i + 1)
    if (words.slice(0, i).some((word) => openBefore.has(word)) || after.some((word) => openAfter.has(word)))
      return undefined
    if (after.every((word) => fineAfter.has(word))) return strength
    // A short word among others without a meaning may be there by chance.
    return words[i]!.length > MOST_BY_CHANCE ? weakest(strength) : undefined
  }
  return undefined
}

const remembered = new Map<string, Strength | undefined>()
const MOST = 4_000

/** How likely the value of a name such as `DB_PASSWORD` or `clientSecret` is a secret; undefined if the name says nothing. */
export const strengthOf = (name: string): Strength | undefined => {
  if (remembered.has(name)) return remembered.get(name)
  if (remembered.size >= MOST) remembered.clear()
  const strength = strengthOfWords(wordsOf(name), /^[A-Z][A-Z0-9_]*$/.test(name))
  remembered.set(name, strength)
  return strength
}

/** The keywords of names: a name without any of them says nothing. */
export const nameWords = [
  'pass',
  'pwd',
  'secret',
  'token',
  'key',
  'cred',
  'bearer',
  'jwt',
  'psk',
  'auth',
  'mnemonic',
  'dsn',
  'pw',
]
