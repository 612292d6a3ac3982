const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

/** Whether `hostname`, as `URL.hostname` spells it, is this machine. */
export const isLoopback = (hostname: string): boolean => LOOPBACK.test(hostname)
