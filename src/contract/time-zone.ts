import { z } from 'zod'

/** Whether a text is the name of a time zone. */
export const isTimeZone = (name: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** The zone whose days are meant. */
export const TimeZone = z
  .string()
  .refine(isTimeZone, { error: 'must be the name of a time zone, such as Europe/Berlin' })
  .meta({ description: 'The time zone of the days, by its IANA name. Default: `UTC`', examples: ['Europe/Berlin'] })
