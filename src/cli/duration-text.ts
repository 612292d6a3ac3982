/** `h:mm:ss`, or `m:ss` below an hour. */
export const durationText = (seconds: number): string => {
  const whole = Math.round(seconds)
  const [h, m, s] = [Math.floor(whole / 3_600), Math.floor((whole % 3_600) / 60), whole % 60]
  const two = (n: number) => String(n).padStart(2, '0')
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`
}

/** A span in words, such as `10 seconds` or `2 minutes`. */
export const spanText = (ms: number): string =>
  ms >= 120_000 && ms % 60_000 === 0 ? `${ms / 60_000} minutes` : `${Math.ceil(ms / 1_000)} seconds`
