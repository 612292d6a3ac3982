/** Words that people write in place of a secret. */
const words =
  /^(?:(?:my|the|some|a|new|old|super|top)?[-_ ]?(?:passw(?:or)?d|passwort|passphrase|passwd|pass|pwd|pw|secret|token|key|api[-_]?key|credentials?|auth|value|string)[-_]?(?:here|value|goes[-_]here|hash|string|\d{0,4})|change[-_]?(?:me|it|this)\w{0,12}|redacted|hidden|masked|none|null|nil|undefined|true|false|empty|optional|required|default|dummy|fake|mock|stub|test(?:ing|er|user)?[-_]?\d{0,4}|admin\d{0,3}|root|guest|postgres|mysql|redis|mongo|rabbitmq|minio(?:admin)?|user(?:name)?\d{0,2}|foo(?:bar)?\d{0,3}|bar\d{0,3}|baz|qux|qwerty\d{0,3}|asdf\w{0,4}|letmein|todo|tbd|n\/a|unknown|anonymous)$/i
/** Words in a value that say that it is an example. */
const example =
  /(?:^|[^A-Za-z])(?:your|our|my|some|insert|enter|replace|example|placeholder|sample|dummy|fake|goes)(?:[-_ ]|$)|(?:^|[-_ <{])your(?!r)|example(?:[-_.\d]|key|$)|placeholder|change[-_]?me|redacted|not[-_]?real/i
/** Marks of something left out, or of a template. */
const omitted = /x{6}|^x{4}|x{4}$|\*{3}|\.{3}|…|•{2}|\{\{|\$\{|#\{|\$\(|%\([a-z]|<[a-z]/i
/** A variable of a shell, of a template, of SQL or of Windows. */
const variable =
  /^(?:\$[A-Za-z_]\w*$|\$[({]|%[A-Za-z_]\w*%?$|[:@][A-Za-z_]+$|[{<[]|!(?:Ref|Sub|env|vault)|ENC\[|op:\/\/|arn:|vault:|ref\+|env[.:]|secrets?\.)/
const repeated = /^(.)\1{3,}$/
/** Rows of the keyboard and of the alphabet, such as `abc123`. */
const sequence =
  /^(?:0?1234567?8?9?0?(?:abc(?:def)?)?|0123456789abcdef.{0,16}|abc(?:def(?:gh\w{0,20})?)?[-_]?(?:1234?5?6?)?|123[-_]?abc|a1b2c3(?:d4(?:e5(?:f6\w{0,40})?)?)?|(?:dead|beef|cafe|babe|f00d|feed|face){1,8}|987654321?0?)$/i

/** Whether a value only stands for a secret: a variable, a word such as `changeme`, a row of crosses. */
export const isPlaceholder = (value: string): boolean =>
  words.test(value) ||
  example.test(value) ||
  omitted.test(value) ||
  variable.test(value) ||
  repeated.test(value) ||
  sequence.test(value)

/**
 * The pairs of letters that make up four fifths of the pairs in English words and in names of code, and three tenths of those in
 * random text. Letters are numbered by their place in the alphabet.
 */
const pairs = new Uint8Array(32 * 32)
for (const [first, seconds] of Object.entries({
  ...{
    a: 'bcdgilmnprstuv',
    b: 'aeilou',
    c: 'acehiklortu',
    d: 'aeiorsu',
    e: 'acdefglmnprstvx',
    f: 'aefilou',
    g: 'aehinr',
  },
  ...{ h: 'aeio', i: 'abcdefglmnoprstvz', k: 'eisy', l: 'adeilostuy', m: 'aeimopu', n: 'acdefginostu' },
  ...{ o: 'acdglmnoprstuvw', p: 'aeiloprst', q: 'u', r: 'acdeimnorstuy', s: 'acehiopstu', t: 'acehilorstuy' },
  ...{ u: 'abceilmnprst', v: 'aei', w: 'aior', x: 'pt', y: 'ps', z: 'e' },
}))
  for (const second of seconds) pairs[(first.charCodeAt(0) & 31) * 32 + (second.charCodeAt(0) & 31)] = 1
const isLetter = (code: number) => (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
const isUpper = (code: number) => code >= 65 && code <= 90
/** The share of such pairs from which on a text is wordy. */
const WORDY = 0.6
/** Names such as `Ed25519PrivateKey` change less often between letters and digits. */
const CHANGES = 3
const isDigit = (code: number) => code >= 48 && code <= 57

/** How often a letter and a digit are next to each other. */
const changesOf = (value: string): number => {
  let changes = 0
  for (let i = 1; i < value.length; i++) {
    const [before, code] = [value.charCodeAt(i - 1), value.charCodeAt(i)]
    if ((isDigit(before) && isLetter(code)) || (isLetter(before) && isDigit(code))) changes++
  }
  return changes
}

/** Whether the letters of a text form words, as in `Ed25519PrivateKey`, and are not random. */
export const isWordy = (value: string): boolean => {
  let [runs, letters, known, all, before] = [0, 0, 0, 0, 0]
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    const isNext = isLetter(before) && !(isUpper(code) && !isUpper(before))
    if (isLetter(code)) {
      letters++
      if (!isNext) runs++
      else known += pairs[(before & 31) * 32 + (code & 31)]!
      if (isNext) all++
    }
    before = code
  }
  return letters >= 3 && letters / runs >= 2.5 && known >= WORDY * all && changesOf(value) < CHANGES
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const hex = /^[0-9a-f]+$/i
/** Values of other forms: a path, an address, a date, a number, a version, a hash with its name. */
const otherForm =
  /^(?:\.{0,2}\/|~\/|[A-Za-z]:\\|[a-z][a-z+.-]{1,20}:\/\/|[\w.+-]{1,64}@[\w-]{1,64}\.[a-z]{2,10}$|\d{4}-\d\d-\d\d|v?\d{1,4}(?:\.\d{1,6}){1,4}(?:[-+]\w{1,20})?$|[-+]?\d[\d_.,]*(?:[a-z]{1,4}|%)?$|0x[0-9a-f]{1,8}$|sha(?:1|256|384|512)[-:]|md5[-:]|rgba?\(|#[0-9a-f]{3,8}$|[\w-]{1,60}\.(?:ts|js|tsx|jsx|json|ya?ml|toml|md|py|go|rs|rb|java|sh|txt|pem|crt|key|env|html|css|sql|log|conf|ini|xml|csv)$|data:|urn:|(?:req|msg|toolu|call|chatcmpl|run|thread|evt|resp|item|batch|trace|span)_\w+$|[A-Z]{2,10}-\d{1,6}$|[),;\]}]|[\w.$]{1,60}\([^)]{0,60}\)$|[^\s]*(?:\]\(|:\/\/))/i
/** Versions of packages, their ranges, and coordinates such as `group:artifact:1.2.3`. */
const versions =
  /^(?:[a-z][\w.-]{0,60}:){0,2}(?:(?: ?\|\|? ?|, ?| - | |^|(?<=:))(?:[~^]|[<>=!~]=?|===)? ?v?\d{1,4}(?:\.[\dx*]{1,6}){1,4}(?:[-+][\w.-]{1,20})?){1,8}$/i
/** References and patterns, which say where a value is or how it looks, and are not secret themselves. */
const pointer = /^(?:#\/|\$\.|\^[^\s]*\$$|~\d[\d,.]*$|[a-z_]\w{0,40}(?:\.\w{1,40}){0,6}\[\d{0,4}\][\w.[\]]{0,80}$)/i
/** Code rather than a value: a call, a member, an element. */
const code =
  /^(?:[!&*-]{0,2}[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.|!\.)[A-Za-z_$][\w$]*)+[!?]?(?:\(.*|\[.*)?$|[\w$.:]*\(|[\w$.]+\[|[A-Za-z_$]\w*[?!]?$|[+*/=!&|?~-]+$|\w+<\w|.*(?:\w\(|=>|\)[{;.]|\{\}|[!=]==?|\?[\w.]{1,40}:))/
/** The beginning of a JSON Web Token, whose dots look like those between members. */
const webToken = /^eyJ[A-Za-z0-9_-]{10}/
/** Operators between names. They also occur in base64 and in passwords. */
const operation = /^[A-Za-z_]\w*[+?*|&][A-Za-z_("']/
const base64 = /^[A-Za-z0-9+/]{20,}={0,2}$/
/** Types, functions and parameters with digits in their names. */
const technical =
  /^(?:u?int|float|f|i|u|str(?:ing)?|char|utf|base|sha|md|aes|rsa|ec|es|rs|hs|ps|ed|x|oauth|argon|bcrypt|scrypt|pbkdf|blake|crc|hmac|ripemd|secp|prime|curve|arg|param|var|val|value|num|item|node|user|test|step|part|line|row|col|page|level|type|version|ver|v|http|ipv|h|p|s|k|t)[-_]?\d{1,5}(?:[a-z]{1,3}\d?|k1|url)?$/i
/** How a value is written: between quotes, directly after `=`, or elsewhere, where it may be code or a word in a sentence. */
export type Written = 'quoted' | 'tight' | 'bare'

/** How likely a name makes its value a secret: `strong` is the weakest, and needs a value that is strongly random. */
export type Strength = 'password' | 'passphrase' | 'secret' | 'strong'

const hasDigit = /[0-9]/
const hasLetter = /[A-Za-z]/
const hasLower = /[a-z]/
const hasUpper = /[A-Z]/
/** Characters in passwords that names and paths do not have. */
const symbol = /[!@#$%^&*+=?~|;()[\]{}<>,]/
const digits = /^[0-9]+$/
const spaced = /\s/
const phrase = /^[a-z]{3,12}(?:([- ])[a-z]{3,12})(?:\1[a-z]{3,12}){2,10}$/
const codeWord =
  /pass|secret|token|key|form|field|error|label|title|button|input|page|valid|user|login|auth|config|file|test/
const sentence = /\b(?:the|is|are|your|not|must|please|with|and|for|this|that|enter|from)\b/

/** Several words that form a passphrase. A password may be one with hyphens, where it does not look like a name in code. */
const isPhrase = (value: string, strength: Strength, written: Written): boolean =>
  phrase.test(value) &&
  !sentence.test(value) &&
  (strength === 'passphrase' || (written !== 'bare' && !value.includes(' ') && !codeWord.test(value)))

/** Whether a word with digits at its end, or with digits instead of letters, such as `hunter2`, is a password after such a name. */
const isPasswordWord = (value: string, written: Written): boolean => {
  if (technical.test(value)) return false
  if (/^[A-Za-z]{3,}[0-9]{1,6}$/.test(value)) return written !== 'bare' || /[0-9]{2}|^[a-z]{5,}[0-9]$/.test(value)
  return /^[A-Za-z0-9]+$/.test(value) && (/[a-z][013457][a-z]/.test(value) || /^[0-9]+[A-Za-z]+$/.test(value))
}

/** A password with spaces has to look random, otherwise it is a sentence. */
const isSpacedPassword = (value: string): boolean =>
  /(?:[0-9][^0-9]*){2}/.test(value) && hasUpper.test(value) && hasLower.test(value) && !isWordy(value)

const isPassword = (value: string, written: Written): boolean => {
  if (digits.test(value)) return written !== 'bare' && value.length < 12 && !value.endsWith('00')
  if (!hasLetter.test(value) && !/[^\x20-\x7f]/.test(value)) return hasDigit.test(value) && symbol.test(value)
  if (hasDigit.test(value)) return symbol.test(value) || !isWordy(value) || isPasswordWord(value, written)
  if (symbol.test(value.slice(0, -1)) && written !== 'bare') return hasUpper.test(value) || !isWordy(value)
  return written !== 'bare' && value.length >= 8 && !isWordy(value) && /^[A-Za-z]+$/.test(value)
}

const isToken = (value: string, written: Written): boolean => {
  if (uuid.test(value)) return true
  if (digits.test(value) || technical.test(value)) return false
  // A name does not begin with a digit.
  if (hasDigit.test(value) && hasLetter.test(value)) return !isWordy(value) || /^[0-9][A-Za-z0-9]{6,}[0-9]$/.test(value)
  if (!hasLetter.test(value) || isWordy(value) || written === 'bare') return false
  return value.length >= 16 || (value.length >= 10 && hasUpper.test(value) && hasLower.test(value))
}

const SHORTEST = 6
/** How much of a value is examined. */
const LONGEST = 200
const STRONG = 16

const isStrong = (value: string): boolean =>
  value.length >= STRONG &&
  hasDigit.test(value) &&
  hasLetter.test(value) &&
  !hex.test(value) &&
  !uuid.test(value) &&
  !isWordy(value) &&
  /^[\w+/=.~-]+$/.test(value) &&
  new Set(value).size >= 10

const isCode = (value: string, written: Written): boolean =>
  written !== 'quoted' &&
  !webToken.test(value) &&
  ((code.test(value) && !(hasDigit.test(value) && /^\w+$/.test(value))) ||
    (written === 'bare' && operation.test(value) && !base64.test(value)))

const isOther = (value: string): boolean =>
  versions.test(value) ||
  pointer.test(value) ||
  (otherForm.test(value) && !(base64.test(value) && changesOf(value) >= CHANGES))

/** Whether the value of such a name is a secret, and not a word, variable, type or placeholder. */
export const isSecretValue = (text: string, strength: Strength, written: Written): boolean => {
  const value = text.slice(0, LONGEST)
  if (value.length < SHORTEST || isPlaceholder(value)) return false
  if (text.length > LONGEST && spaced.test(text)) return false
  const isPasswordName = strength === 'password' || strength === 'passphrase'
  if (digits.test(value)) return isPasswordName && isPassword(value, written)
  if (isOther(value)) return false
  if (isPasswordName && isPhrase(value, strength, written)) return true
  // Letters directly after `=` may be a variable, so they have to look random.
  if (written === 'tight' && /^[A-Za-z]{8,}$/.test(value)) return strength !== 'strong' && isToken(value, written)
  if (spaced.test(value)) return isPasswordName && written === 'quoted' && isSpacedPassword(value)
  if (isCode(value, written)) return false
  switch (strength) {
    case 'password':
    case 'passphrase':
      return isPassword(value, written)
    case 'secret':
      return (
        isToken(value, written) ||
        (written !== 'bare' && symbol.test(value) && hasLetter.test(value) && isPassword(value, written))
      )
    case 'strong':
      return isStrong(value)
  }
}
