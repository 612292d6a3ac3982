/** Read by the GNU C library when a process starts. */
const VARIABLE = 'MALLOC_MMAP_THRESHOLD_'
const THRESHOLD_BYTES = 1024 * 1024

/** Node's profilers send signals to their own process: one that is under way while the command starts anew would end it. */
const PROFILER = /(?:^|\s)--(?:cpu[-_])?prof(?!\S)/

/**
 * Starts this command anew in its own process, with the same id, so that the C library gives memory of a megabyte and more back
 * to the system as soon as it is freed. By default it stops doing so for all that is smaller than the largest block that
 * was freed once, up to 32 MiB: after a few large bodies the service would keep more than 100 MB of holes. That can only be
 * said in the environment. Does nothing where that says it already, while a profiler runs, or to a process that another one
 * talks to over a channel of Node's, which would be lost.
 */
export const reexecWithMallocThreshold = (): void => {
  const { platform, env, execve, connected, execPath, execArgv, argv } = process
  if (platform !== 'linux' || env[VARIABLE] !== undefined || connected || !execve) return
  if (PROFILER.test([env['NODE_OPTIONS'], ...execArgv].join(' '))) return
  try {
    execve(execPath, [execPath, ...execArgv, ...argv.slice(1)], { ...env, [VARIABLE]: `${THRESHOLD_BYTES}` })
  } catch {
    // Not allowed, as under Node's permission model: then it takes more memory.
  }
}
