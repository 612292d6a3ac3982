import { digest } from '../../digest.ts'
import { isZstd } from './chunks.ts'
import { checked, type Checksums, type Fingerprint, fingerprintAt } from './fingerprint.ts'
import type { Place } from './lines.ts'

/**
 * A place in a session's file, the state that was saved there, and the fingerprint of everything before it. `next` is the first line
 * that the earlier reading did not reach.
 */
export type ResumePoint = {
  readonly place: Place
  readonly next: number
  readonly externalId: string
  readonly saved: unknown
  readonly fingerprint: Fingerprint
}

/** A file when its reading began: `changed` is the time of its last write. */
export type FileThen = { readonly size: number; readonly changed: string }

type Written = ResumePoint & FileThen & { readonly version: string }

/** Longer texts are not stored: such sessions are read as a whole each time. */
const MAX_LENGTH = 16 << 20

/** The checksums of all that was read of a file, and the fingerprint from the earlier reading. */
type Read = { readonly checksums: Checksums; readonly before: Fingerprint | undefined }

/** The point as text, after a hash by which damaged texts are found. Undefined for a compressed file. */
export const writeResumePoint = async (
  path: string,
  { size, changed }: FileThen,
  version: string,
  point: Omit<ResumePoint, 'fingerprint'>,
  { checksums, before }: Read,
): Promise<string | undefined> => {
  const fingerprint = isZstd(path) ? undefined : await fingerprintAt(path, checksums, point.place.offset, before)
  if (fingerprint === undefined) return undefined
  const text = JSON.stringify({ version, size, changed, ...point, fingerprint } satisfies Written)
  return text.length > MAX_LENGTH ? undefined : `${digest(text)} ${text}`
}

const parse = (text: string): Written | undefined => {
  const end = text.indexOf(' ')
  const json = text.slice(end + 1)
  return digest(json) === text.slice(0, end) ? (JSON.parse(json) as Written) : undefined
}

/** Whether a file was written without becoming longer: then it was overwritten, or only touched. */
const isWrittenOver = (then: FileThen, now: FileThen): boolean => now.size <= then.size && now.changed !== then.changed

/** Whether the fingerprint is of this version. Older versions stored a text. */
const hasFingerprint = ({ fingerprint }: { readonly fingerprint: unknown }): boolean =>
  typeof fingerprint === 'object' && fingerprint !== null

/** The point in a text; undefined if another version has written it, or if the file has changed before that place. */
export const readResumePoint = async (
  path: string,
  now: FileThen,
  version: string,
  text: string,
): Promise<ResumePoint | undefined> => {
  const point = parse(text)
  if (point?.version !== version || point.place.offset > now.size || isWrittenOver(point, now)) return undefined
  const fingerprint = hasFingerprint(point) ? await checked(path, point.fingerprint, point.place.offset) : undefined
  return fingerprint && { ...point, fingerprint }
}
