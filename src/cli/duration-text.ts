/** `h:mm:ss`, or `m:ss` below an hour. */
export const durationText = (seconds: number): string => {
  const whole = Math.round(seconds)
  const [h, m, s] = [Math.floor(whole / 3_600), Math.floor((whole % 3_600) / 60), whole % 60]
  const two = (n: number) => String(n).padStart(2, '0')
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`
}
