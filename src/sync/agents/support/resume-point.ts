import { digest } from '../../digest.ts'
import { isZstd } from './chunks.ts'
import { checked, type Checksums, type Fingerprint, fingerprintAt } from './fingerprint.ts'
import type { Place } from './lines.ts'

/**
 * A place in a session's file, and what was saved of the lines before it. `next`: the first line that was not read then. `fingerprint`
 * is that of all before the place.
 */
export type ResumePoint = {
  readonly place: Place
  readonly next: number
  readonly externalId: string
  readonly saved: unknown
  readonly fingerprint: Fingerprint
}

/** A file as it was when its reading began: `changed` is when it was written last. */
export type FileThen = { readonly size: number; readonly changed: string }

type Written = ResumePoint & FileThen & { readonly version: string }

/** Larger ones are not worth it: those sessions are read whole. */
const MAX_LENGTH = 16 << 20

/** What was read of a file: checksums of all of it, and the fingerprint of what an earlier reading had read. */
type Read = { readonly checksums: Checksums; readonly before: Fingerprint | undefined }

/** The point as text, in front of it a hash, so that no other text is taken for one. Undefined for a compressed file. */
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

/** A file that was written and has not become longer was written over, or only touched. */
const isWrittenOver = (then: FileThen, now: FileThen): boolean => now.size <= then.size && now.changed !== then.changed

/** Whether the fingerprint is of this version: an older one had a text. */
const hasFingerprint = ({ fingerprint }: { readonly fingerprint: unknown }): boolean =>
  typeof fingerprint === 'object' && fingerprint !== null

/** The point that a text gives; undefined unless the same version wrote it, and the file is the same up to there. */
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
