import { z } from 'zod'

const most = z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER).optional()

/** What one namespace may hold; without a number as much as it likes. The README lists them. */
export const quotaSettings = {
  QUOTA_TRACES: most,
  /** Of the events that its traces' messages were written with; what is deleted does not count. */
  QUOTA_BYTES: most,
  /** Of the pictures that were replaced within the last hour, and the next one. */
  QUOTA_AVATAR_BYTES: most,
}

export type QuotaSettings = { readonly [Name in keyof typeof quotaSettings]?: number | undefined }
