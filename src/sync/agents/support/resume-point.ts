import { digest } from '../../digest.ts'
import { isZstd } from './chunks.ts'
import { fingerprintOf } from './fingerprint.ts'
import type { Place } from './lines.ts'

/** A place in a session's file, and what was saved of the lines before it. `next`: the first line that was not read then. */
export type ResumePoint = {
  readonly place: Place
  readonly next: number
  readonly externalId: string
  readonly saved: unknown
}

/** A file as it was when its reading began: `changed` is when it was written last. */
export type FileThen = { readonly size: number; readonly changed: string }

type Written = ResumePoint & FileThen & { readonly version: string; readonly fingerprint: string }

/** Larger ones are not worth it: those sessions are read whole. */
const MAX_LENGTH = 16 << 20

/**
 * The point as text, in front of it a hash, so that no other text is taken for one. Undefined when the file has changed before the
 * point, or is compressed.
 */
export const writeResumePoint = (
  path: string,
  { size, changed }: FileThen,
  version: string,
  point: ResumePoint,
): string | undefined => {
  const fingerprint = isZstd(path) ? undefined : fingerprintOf(path, point.place.offset)
  if (fingerprint === undefined) return undefined
  const text = JSON.stringify({ version, fingerprint, size, changed, ...point } satisfies Written)
  return text.length > MAX_LENGTH ? undefined : `${digest(text)} ${text}`
}

const parse = (text: string): Written | undefined => {
  const end = text.indexOf(' ')
  const json = text.slice(end + 1)
  return digest(json) === text.slice(0, end) ? (JSON.parse(json) as Written) : undefined
}

/** A file that was written and has not become longer was written over, or only touched. */
const isWrittenOver = (then: FileThen, now: FileThen): boolean => now.size <= then.size && now.changed !== then.changed

/** The point that a text gives; undefined unless the same version wrote it, and the file is the same up to there. */
export const readResumePoint = (
  path: string,
  now: FileThen,
  version: string,
  text: string,
): ResumePoint | undefined => {
  const point = parse(text)
  if (point?.version !== version || point.place.offset > now.size || isWrittenOver(point, now)) return undefined
  return fingerprintOf(path, point.place.offset) === point.fingerprint ? point : undefined
}
