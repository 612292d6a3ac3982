const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|::1)$/

/** Whether a host name, as in a URL or as one listens on it, stands for this machine. */
export const isLoopback = (hostname: string): boolean => LOOPBACK.test(hostname)
