import {
  type KeyObject,
  createHash,
  createPrivateKey,
  createPublicKey,
  randomBytes,
  sign as signBytes,
  verify as verifyBytes,
} from 'node:crypto'

/** Signed notes (C2SP `signed-note`) with Ed25519, and the text forms of their keys, as Go's `sumdb/note` writes them. */

const ED25519 = 1
const KEY_BYTES = 32
const ID_BYTES = 4
const SIGNATURE_BYTES = 64
const PRIVATE = 'PRIVATE+KEY+'
/** Come before the 32 bytes of a key in DER: PKCS #8 for a private one, SPKI for a public one. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')
const MAX_SIGNATURES = 100

/** A text that is not a key of this format. */
export class BadKey extends Error {
  override readonly name = 'BadKey'
}

/** A note that is malformed, or not signed by the key. */
export class BadNote extends Error {
  override readonly name = 'BadNote'
}

/** The public half of a key. `text` is its verifier form, `<name>+<hash>+<base64>`. */
export type Verifier = { readonly name: string; readonly id: Buffer; readonly key: KeyObject; readonly text: string }

/** A private key. `text` is its signer form, which must stay secret. */
export type Signer = {
  readonly name: string
  readonly key: KeyObject
  readonly verifier: Verifier
  readonly text: string
}

/** Whether a text is a valid name of a key: not empty, without spaces, plus signs and control characters. */
export const isKeyName = (name: string): boolean => /^[^\s+\p{Cc}\p{Cs}]+$/u.test(name)

/** The bytes of canonical base64; undefined for any other text. */
export const fromBase64 = (text: string): Buffer | undefined => {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

const idOf = (name: string, publicKey: Uint8Array): Buffer =>
  createHash('sha256').update(`${name}\n`).update(Buffer.of(ED25519)).update(publicKey).digest().subarray(0, ID_BYTES)

const newVerifier = (name: string, bytes: Buffer): Verifier => {
  const id = idOf(name, bytes)
  const encoded = Buffer.concat([Buffer.of(ED25519), bytes]).toString('base64')
  const key = createPublicKey({ key: Buffer.concat([SPKI, bytes]), format: 'der', type: 'spki' })
  return { name, id, key, text: `${name}+${id.toString('hex')}+${encoded}` }
}

const newSigner = (name: string, seed: Buffer): Signer => {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
  const publicBytes = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(SPKI.length)
  const verifier = newVerifier(name, publicBytes)
  const encoded = Buffer.concat([Buffer.of(ED25519), seed]).toString('base64')
  return { name, key, verifier, text: `${PRIVATE}${name}+${verifier.id.toString('hex')}+${encoded}` }
}

const KEY = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/u

/** The name, hash and 32 bytes of a key's text. @throws BadKey, which never contains the text */
const parseKey = (text: string, what: string): { name: string; hash: string; bytes: Buffer } => {
  const [, name, hash, encoded] = KEY.exec(text) ?? []
  const bytes = encoded === undefined ? undefined : fromBase64(encoded)
  if (!bytes || !isKeyName(name!)) throw new BadKey(`it is not a ${what}`)
  if (bytes[0] !== ED25519 || bytes.length !== 1 + KEY_BYTES) throw new BadKey(`it is not a ${what} of Ed25519`)
  return { name: name!, hash: hash!, bytes: bytes.subarray(1) }
}

const assertHash = (verifier: Verifier, hash: string) => {
  if (verifier.id.toString('hex') !== hash) throw new BadKey('its hash does not match its name and key: copy it again')
}

/** @throws BadKey */
export const parseVerifier = (text: string): Verifier => {
  const { name, hash, bytes } = parseKey(text, 'verifier key (<name>+<hash>+<base64>)')
  const verifier = newVerifier(name, bytes)
  assertHash(verifier, hash)
  return verifier
}

/** @throws BadKey, whose message does not contain the key */
export const parseSigner = (text: string): Signer => {
  const what = `signing key (${PRIVATE}<name>+<hash>+<base64>)`
  if (!text.startsWith(PRIVATE)) throw new BadKey(`it is not a ${what}`)
  const { name, hash, bytes } = parseKey(text.slice(PRIVATE.length), what)
  const signer = newSigner(name, bytes)
  assertHash(signer.verifier, hash)
  return signer
}

/** A new key with this name. @throws BadKey for an invalid name */
export const generateSigner = (name: string): Signer => {
  if (!isKeyName(name)) throw new BadKey(`"${name}" is not a valid name of a key: use no spaces and no plus signs`)
  return newSigner(name, randomBytes(KEY_BYTES))
}

/** The same private key with another name. For verifiers it is another key. */
export const renameSigner = (signer: Signer, name: string): Signer =>
  newSigner(name, signer.key.export({ format: 'der', type: 'pkcs8' }).subarray(PKCS8.length))

/** Signs a text, which must end with a newline. */
export const signNote = (text: string, { name, key, verifier }: Signer): string => {
  const signature = Buffer.concat([verifier.id, signBytes(null, Buffer.from(text), key)])
  return `${text}\n\u2014 ${name} ${signature.toString('base64')}\n`
}

const LINE = /^\u2014 ([^\s+]+) ([A-Za-z0-9+/]+={0,2})$/u

const parseLine = (line: string): { name: string; id: Buffer; signature: Buffer } => {
  const [, name, encoded] = LINE.exec(line) ?? []
  const bytes = encoded === undefined ? undefined : fromBase64(encoded)
  if (!bytes || bytes.length <= ID_BYTES || !isKeyName(name!))
    throw new BadNote('a signature line is malformed: expected a dash, the name of a key, and base64')
  return { name: name!, id: bytes.subarray(0, ID_BYTES), signature: bytes.subarray(ID_BYTES) }
}

/** The text of a note and its signatures. @throws BadNote */
const parseNote = (note: string) => {
  if (/[\0-\t\v-\x1f]|\p{Cs}/u.test(note)) throw new BadNote('it has control characters, which a note must not have')
  const end = note.lastIndexOf('\n\n')
  const block = note.slice(end + 2)
  if (end < 0 || !block.endsWith('\n'))
    throw new BadNote('it is not a signed note: expected a text, an empty line, and lines with signatures')
  const lines = block.slice(0, -1).split('\n')
  if (lines.length > MAX_SIGNATURES) throw new BadNote(`it has more than ${MAX_SIGNATURES} signatures`)
  return { text: note.slice(0, end + 1), signatures: lines.map(parseLine) }
}

/** The text of a note that this key has signed. Signatures of other keys do not count. @throws BadNote */
export const openNote = (note: string, { name, id, key }: Verifier): string => {
  const { text, signatures } = parseNote(note)
  const ours = signatures.filter((one) => one.name === name && one.id.equals(id))
  if (ours.length === 0) throw new BadNote(`it has no signature of the key ${name}+${id.toString('hex')}`)
  for (const { signature } of ours)
    if (signature.length !== SIGNATURE_BYTES || !verifyBytes(null, Buffer.from(text), key, signature))
      throw new BadNote('its signature is wrong')
  return text
}
