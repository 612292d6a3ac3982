import { wholeNumber } from '../../base/whole-number.ts'

const maximum = wholeNumber(1).optional()

/** The environment variables that limit what one namespace may hold. Default: no limit. */
export const quotaSettings = {
  QUOTA_TRACES: maximum,
  /** Characters of JSON of the events with messages. Deleted traces do not count. */
  QUOTA_BYTES: maximum,
  /** Bytes of the new avatar and of those that were replaced within the last hour. */
  QUOTA_AVATAR_BYTES: maximum,
}

export type QuotaSettings = { readonly [Name in keyof typeof quotaSettings]?: number | undefined }
