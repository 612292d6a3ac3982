/** A time of a client, which may be any number of milliseconds since 1970, as `2026-01-02 15:04:05 UTC`; undefined if it is not a time. */
export const timeText = (ms: number | undefined): string | undefined => {
  const iso = isoText(ms)
  return iso === undefined ? undefined : `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`
}

/** A time of a client in ISO 8601; undefined if it is not a time, or its year has more than four digits. */
export const isoText = (ms: number | undefined): string | undefined => {
  if (ms === undefined || !(ms >= 0 && ms < 253_402_300_800_000)) return undefined
  return new Date(ms).toISOString()
}
