/** The GNU C library reads it when a process starts. */
const VARIABLE = 'MALLOC_MMAP_THRESHOLD_'
const THRESHOLD_BYTES = 1024 * 1024

/** Node's profilers send signals to their own process; one that arrives during the re-execution would end it. */
const PROFILER = /(?:^|\s)--(?:cpu[-_])?prof(?!\S)/

/**
 * Re-executes this command in the same process, so that the C library returns blocks of a megabyte and more to the system as soon
 * as they are freed. By default it raises that threshold to the size of the largest block freed so far, up to 32 MiB: after a few
 * large bodies the service would keep more than 100 MB. The threshold can only be set in the environment. Does nothing if it is
 * set, while a profiler runs, or if the process has an IPC channel, which would be lost.
 */
export const reexecWithMallocThreshold = (): void => {
  const { platform, env, execve, connected, execPath, execArgv, argv } = process
  if (platform !== 'linux' || env[VARIABLE] !== undefined || connected || !execve) return
  if (PROFILER.test([env['NODE_OPTIONS'], ...execArgv].join(' '))) return
  try {
    execve(execPath, [execPath, ...execArgv, ...argv.slice(1)], { ...env, [VARIABLE]: `${THRESHOLD_BYTES}` })
  } catch {
    // Not allowed, for example under Node's permission model: the service uses more memory then.
  }
}
