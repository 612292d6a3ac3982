import { wholeNumber } from '../base/whole-number.ts'

const maximum = wholeNumber(1).optional()

/** The environment variables that limit what one namespace may hold; without one there is no limit. */
export const quotaSettings = {
  QUOTA_TRACES: maximum,
  /** Characters of JSON of the events with the messages of its traces. What is deleted does not count. */
  QUOTA_BYTES: maximum,
  /** Bytes of the avatars that were replaced within the last hour, with the next one. */
  QUOTA_AVATAR_BYTES: maximum,
}

export type QuotaSettings = { readonly [Name in keyof typeof quotaSettings]?: number | undefined }
