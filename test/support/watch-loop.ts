/** Measures the longest turn of the event loop of this thread, in milliseconds of processor time: other work waits for so long. */
export const watchLoop = () => {
  let before = process.threadCpuUsage()
  let longest = 0
  const look = () => {
    const { user, system } = process.threadCpuUsage(before)
    longest = Math.max(longest, (user + system) / 1_000)
    before = process.threadCpuUsage()
    looking = setImmediate(look)
  }
  let looking = setImmediate(look)
  return { longest: () => longest, stop: () => clearImmediate(looking) }
}
