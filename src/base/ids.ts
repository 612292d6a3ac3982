import { createHash, hash } from 'node:crypto'
import { newUuid, uuidText, writeUuid } from './uuid.ts'

/**
 * Where uniqueness matters an id is derived from the key of its thing: two processes that create the same thing at once then
 * append to the same stream, and only the first append expects an empty stream.
 */
const ROOT = '5b1f0e3c-5d0b-5a8e-9f3e-6d0c7a52c1f4'

const digest = Buffer.alloc(20)

/** Begins with the bytes of `lastNamespace`. */
let scratch = Buffer.alloc(1_024)
let lastNamespace = ''

/** A UUID of version 5 (RFC 9562). Not from a library, because each message needs one, and libraries take eight times as long. */
export const v5 = (name: string, namespace: string): string => {
  const most = 16 + 3 * name.length
  if (namespace !== lastNamespace || most > scratch.length) {
    if (most > scratch.length) scratch = Buffer.alloc(2 * most)
    lastNamespace = ''
    writeUuid(scratch, namespace, 0)
    lastNamespace = namespace
  }
  digest.write(hash('sha1', scratch.subarray(0, 16 + scratch.write(name, 16)), 'latin1'), 'latin1')
  digest[6] = (digest[6]! & 0x0f) | 0x50
  digest[8] = (digest[8]! & 0x3f) | 0x80
  return uuidText(digest)
}

const derived = (kind: string, ...key: string[]) => v5([kind, ...key].join('\0'), ROOT)

/** The same id for the same externalId in the same namespace, also after a deletion. */
export const traceId = (namespaceId: string, externalId: string): string => derived('trace', namespaceId, externalId)
/** The same id for the same commit of the same repository (`host/path`) in the same namespace. */
export const commitId = (namespaceId: string, repository: string, sha: string): string =>
  derived('commit', namespaceId, repository, sha)
export const messageId = (traceId: string, externalId: string): string => v5(externalId, traceId)
export const namespaceId = (slug: string): string => derived('namespace', slug)
/**
 * `key` is the SHA-256 of a device's id or of an account: a device's id is a credential, so it is not stored. `removals` is
 * how often an identity with this key has been removed: the next one gets another id, and so another user.
 */
export const identityId = (type: 'device' | 'codehost', key: string, removals = 0): string =>
  removals === 0 ? derived('identity', type, key) : derived('identity', type, key, String(removals))
export const userId = (identityId: string): string => derived('user', identityId)
export const newId = newUuid

/** A hash in the form of a UUID, for indexes over keys that may have 1,024 characters. */
export const keyHash = (key: string): string => uuidText(hash('sha256', key, 'buffer'))

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** Whether a text has the form of an id: a UUID in lower case. */
export const isId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
